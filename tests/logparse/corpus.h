#pragma once

#include <string>
#include <vector>

namespace ringside::logs {

/// The labelled logs next to the checkout, sorted; the README there describes them. Throws as shared_folder().
std::vector<std::string> corpus_logs();

/// The paths of a folder's *.log, sorted.
std::vector<std::string> logs_in(const std::string& folder);

/// A log without changes; throws if it cannot be read.
std::string read_log(const std::string& path);

}  // namespace ringside::logs

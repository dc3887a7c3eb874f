#pragma once

#include <string>
#include <vector>

namespace ringside::logs {

/// Returns the paths of the labelled logs next to the checkout, sorted; the README there describes them. Throws as
/// shared_folder() does.
std::vector<std::string> corpus_logs();

/// Returns the paths of a folder's *.log, sorted.
std::vector<std::string> logs_in(const std::string& folder);

/// Returns a log unchanged; throws if it cannot be read.
std::string read_log(const std::string& path);

}  // namespace ringside::logs

#pragma once

#include <string>
#include <vector>

namespace ringside::logs {

/// The labelled logs beside the checkout, sorted; the README there says what they are. Throws as shared_folder().
std::vector<std::string> corpus_logs();

/// The paths of a folder's *.log, sorted.
std::vector<std::string> logs_in(const std::string& folder);

/// A log as it stands; throws where it cannot be read.
std::string read_log(const std::string& path);

}  // namespace ringside::logs

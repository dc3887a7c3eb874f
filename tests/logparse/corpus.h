#pragma once

#include <string>
#include <vector>

/// The labelled logs beside the checkout; the README there says what they are.
namespace ringside::logs {

/// The paths of logs/*.log in RINGSIDE_SHARED/corpus, sorted; empty where there is none.
std::vector<std::string> corpus_logs();

std::string read_corpus_log(const std::string& path);

}  // namespace ringside::logs

#include "tests/logparse/corpus.h"

#include <algorithm>
#include <filesystem>

#include "base/env.h"
#include "base/fd.h"

namespace ringside::logs {

std::vector<std::string> corpus_logs() {
  const std::string shared = env_text("RINGSIDE_SHARED").value_or(RINGSIDE_DEFAULT_SHARED);
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(shared + "/corpus/logs", error)) {
    if (entry.path().extension() == ".log") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string read_corpus_log(const std::string& path) {
  auto text = read_file(path);
  return text ? *text : std::string();
}

}  // namespace ringside::logs

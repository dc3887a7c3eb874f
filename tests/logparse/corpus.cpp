#include "tests/logparse/corpus.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/fd.h"
#include "tests/support/shared.h"

namespace ringside::logs {

std::vector<std::string> logs_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".log") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> corpus_logs() { return logs_in(shared_folder() + "/corpus/logs"); }

std::string read_log(const std::string& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error(text.error().message);
  return *std::move(text);
}

}  // namespace ringside::logs

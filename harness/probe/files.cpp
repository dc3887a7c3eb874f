#include "harness/probe/files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/fd.h"

namespace ringside::probe {

std::string read_line(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return {};
  std::string line = *text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder, failed);
  const std::filesystem::directory_iterator end;
  while (!failed && entry != end) {
    names.push_back(entry->path().filename().string());
    entry.increment(failed);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string link_name(const std::string& path) {
  std::error_code failed;
  const auto target = std::filesystem::read_symlink(path, failed);
  return failed ? std::string() : target.filename().string();
}

double leading_value(const std::string& text, double otherwise) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? otherwise : value;
}

}  // namespace ringside::probe

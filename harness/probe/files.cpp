#include "harness/probe/files.h"

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

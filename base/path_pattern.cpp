#include "base/path_pattern.h"

#include <fmt/format.h>

namespace ringside {

std::string filled_in_path(std::string_view pattern, std::string_view host, int pid) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      path += pattern[i];
      continue;
    }
    const char what = pattern[++i];
    if (what == 'h') {
      path += host;
    } else if (what == 'p') {
      path += fmt::format("{}", pid);
    } else if (what == '%') {
      path += '%';
    } else {
      path += '%';
      path += what;
    }
  }
  return path;
}

}  // namespace ringside

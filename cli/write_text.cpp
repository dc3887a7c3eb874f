#include "cli/write_text.h"

#include <fmt/format.h>

#include <fstream>

namespace ringside::cli {

Status write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return Error{ErrorCode::System, fmt::format("{}: cannot be written", path),
               "check the folder and its free space"};
}

Status check_writable(const std::string& option, const std::string& path) {
  if (path.empty() || std::ofstream(path, std::ios::binary | std::ios::app)) return {};
  return Error{ErrorCode::InvalidArgument, fmt::format("{} {}: cannot be written", option, path),
               "give another path"};
}

}  // namespace ringside::cli

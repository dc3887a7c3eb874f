#include "cli/write_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace ringside::cli {

namespace fs = std::filesystem;

Status write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return Error{ErrorCode::System, fmt::format("{}: cannot be written", path),
               "check the folder and its free space"};
}

Status check_writable(const std::string& option, const std::string& path) {
  std::error_code ignored;
  const bool was_there = path.empty() || fs::exists(fs::symlink_status(path, ignored));
  if (path.empty() || std::ofstream(path, std::ios::binary | std::ios::app)) {
    if (!was_there) fs::remove(path, ignored);
    return {};
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("{} {}: cannot be written", option, path),
               "give another path"};
}

}  // namespace ringside::cli

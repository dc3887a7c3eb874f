#include "base/folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMend =
    "name a folder that is empty or does not exist yet, or remove it first";

Error refused(const std::string& path, std::error_code why) {
  return system_error(path + ": cannot be a folder to write into", why.value(),
                      "name one where you may write, below a folder of a disk");
}

}  // namespace

Status make_empty_folder(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed == std::errc::not_a_directory || failed == std::errc::file_exists) {
    return Error{ErrorCode::InvalidArgument, path + ": a file is in the way of this folder", kMend};
  }
  if (failed) return refused(path, failed);
  const bool is_empty = fs::directory_iterator(path, failed) == fs::directory_iterator{};
  if (failed) return refused(path, failed);
  if (!is_empty) {
    return Error{ErrorCode::InvalidArgument, path + ": the folder holds files already", kMend};
  }
  return {};
}

Status check_own_folder(const std::string& path, const std::string& mark) {
  std::error_code failed;
  const fs::path folder(path);
  if (!fs::exists(folder, failed) || fs::exists(folder / mark, failed)) return {};
  if (!fs::is_directory(folder, failed)) {
    return Error{ErrorCode::InvalidArgument, path + ": a file is in the way of this folder", kMend};
  }
  const bool is_empty = fs::directory_iterator(folder, failed) == fs::directory_iterator{};
  if (failed) return refused(path, failed);
  if (is_empty) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{}: the folder holds other files, and no {}", path, mark),
               "name a folder that is empty or does not exist yet; --force writes into this one"};
}

}  // namespace ringside

#include "base/folder.h"

#include <algorithm>
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

Error unreadable(const std::string& path, std::error_code why) {
  return system_error(path + ": cannot be read", why.value(), "check the permissions");
}

Status add_files_below(const std::string& folder, std::vector<std::string>& files) {
  std::error_code failed;
  // Range loops are no use: their ++ throws what increment() reports.
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) {
      RINGSIDE_TRY(add_files_below(at->path().string(), files));
    } else if (at->is_regular_file(ignored)) {
      files.push_back(at->path().string());
    }
  }
  return failed ? Status(unreadable(folder, failed)) : Status();
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

Result<std::vector<std::string>> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    names.push_back(at->path().filename().string());
  }
  if (failed) return unreadable(folder, failed);
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> names_or_none(const std::string& folder) {
  Result<std::vector<std::string>> names = names_in(folder);
  return names ? *std::move(names) : std::vector<std::string>();
}

Result<std::vector<std::string>> files_below(const std::string& folder) {
  std::vector<std::string> files;
  RINGSIDE_TRY(add_files_below(folder, files));
  std::ranges::sort(files);
  return files;
}

}  // namespace ringside

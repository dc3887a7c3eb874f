#include "base/folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/walk_folder.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFix =
    "name a folder that is empty or does not exist yet, or remove it first";

Error refused(const std::string& path, std::error_code why) {
  return system_error(path + ": cannot be a folder to write into", why.value(),
                      "name one where you may write, below a folder of a disk");
}

Error unreadable(const std::string& path, std::error_code why) {
  return system_error(path + ": cannot be read", why.value(), "check the permissions");
}

}  // namespace

Status make_empty_folder(const std::string& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed == std::errc::not_a_directory || failed == std::errc::file_exists) {
    return Error{ErrorCode::InvalidArgument, path + ": a file is in the way of this folder", kFix};
  }
  if (failed) return refused(path, failed);
  const bool is_empty = fs::directory_iterator(path, failed) == fs::directory_iterator{};
  if (failed) return refused(path, failed);
  if (!is_empty) {
    return Error{ErrorCode::InvalidArgument, path + ": the folder holds files already", kFix};
  }
  return {};
}

Status check_own_folder(const std::string& path, const std::string& mark) {
  std::error_code failed;
  const fs::path folder(path);
  if (!fs::exists(folder, failed) || fs::exists(folder / mark, failed)) return {};
  if (!fs::is_directory(folder, failed)) {
    return Error{ErrorCode::InvalidArgument, path + ": a file is in the way of this folder", kFix};
  }
  const bool is_empty = fs::directory_iterator(folder, failed) == fs::directory_iterator{};
  if (failed) return refused(path, failed);
  if (is_empty) return {};
  return Error{ErrorCode::InvalidArgument,
               fmt::format("{}: the folder holds other files, and no {}", path, mark),
               "name a folder that is empty or does not exist yet; --force writes into this one"};
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
  const std::vector<UnreadFolder> unread =
      walk_folder(folder, [&files](const fs::directory_entry& entry) {
        std::error_code ignored;
        if (entry.is_regular_file(ignored)) files.push_back(entry.path().string());
        return true;
      });
  if (!unread.empty()) {
    const auto& [path, error] = unread.front();
    return Error{ErrorCode::InvalidArgument, path + ": " + error.message(),
                 "check the permissions of the folder"};
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace ringside

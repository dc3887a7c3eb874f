#include "gui/model/session/chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

namespace ringside::gui {
namespace {

namespace fs = std::filesystem;

FolderEntry::Kind kind_of(const fs::path& name, bool is_folder) {
  if (is_folder) return FolderEntry::Kind::Folder;
  if (name.extension() == ".rtrace") return FolderEntry::Kind::Trace;
  const bool is_yaml = name.extension() == ".yaml" || name.extension() == ".yml";
  return is_yaml ? FolderEntry::Kind::Scenario : FolderEntry::Kind::Other;
}

}  // namespace

void Chooser::go(const std::string& path) {
  std::error_code failed;
  fs::path folder = fs::absolute(path.empty() ? "." : path, failed).lexically_normal();
  marked_.clear();
  if (fs::is_regular_file(folder, failed)) {
    marked_.insert(folder.filename().string());
    folder = folder.parent_path();
  }
  if (!folder.has_filename() && folder.has_relative_path()) folder = folder.parent_path();
  folder_ = folder.string();
  entries_.clear();
  trouble_.clear();
  fs::directory_iterator at(folder, failed);
  if (failed) {
    trouble_ = fmt::format("{}: {}", folder_, failed.message());
    return;
  }
  for (; at != fs::directory_iterator(); at.increment(failed)) {
    FolderEntry entry{.name = at->path().filename().string()};
    if (entry.name.starts_with('.')) continue;
    std::error_code ignored;
    const bool is_folder = at->is_directory(ignored);
    entry.kind = kind_of(entry.name, is_folder);
    const std::uintmax_t bytes = is_folder ? 0 : at->file_size(ignored);
    entry.bytes = ignored ? 0 : bytes;
    entries_.push_back(std::move(entry));
    if (entries_.size() == kMostEntries) {
      trouble_ = fmt::format("the first {}: type the name of another one", kMostEntries);
      break;
    }
  }
  // A folder that cannot be read further ends the loop.
  if (failed) trouble_ = fmt::format("{}: {}", folder_, failed.message());
  std::ranges::sort(entries_, {}, [](const FolderEntry& entry) {
    return std::tuple<int, const std::string&>(static_cast<int>(entry.kind), entry.name);
  });
}

void Chooser::click(const FolderEntry& entry) {
  const std::string name = entry.name;  // of a list that is about to go
  if (entry.kind == FolderEntry::Kind::Folder) return go((fs::path(folder_) / name).string());
  if (marked_.erase(name) == 0) marked_.insert(name);
}

std::vector<std::string> Chooser::paths() const {
  if (marked_.empty()) return {folder_};
  std::vector<std::string> all;
  for (const std::string& name : marked_) all.push_back((fs::path(folder_) / name).string());
  return all;
}

}  // namespace ringside::gui

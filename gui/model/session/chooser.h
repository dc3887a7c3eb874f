#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ringside::gui {

/// What a folder has that may be opened.
struct FolderEntry {
  enum class Kind : std::uint8_t { Folder, Trace, Scenario, Other };
  std::string name;
  Kind kind = Kind::Other;
  std::uint64_t bytes = 0;
};

/// The window's way to its files: a folder, what is in it, and what of that has been marked.
class Chooser {
 public:
  static constexpr std::size_t kMostEntries = 2000;

  /// Goes there, and reads it: on a file that is in it, with that one marked. Nothing marked stays.
  void go(const std::string& path);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Folders first, then traces and scenarios, then the rest; each by name. Hidden ones are left out.
  [[nodiscard]] const std::vector<FolderEntry>& entries() const { return entries_; }
  /// Why there are none, or not all; empty: they are all there.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  /// A folder is gone into; a file is marked, or no longer.
  void click(const FolderEntry& entry);
  [[nodiscard]] bool is_marked(const std::string& name) const { return marked_.contains(name); }
  [[nodiscard]] std::size_t marked() const { return marked_.size(); }

  /// What Open means now: the marked files, else the folder.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  std::string folder_;
  std::vector<FolderEntry> entries_;
  std::string trouble_;
  std::set<std::string> marked_;
};

}  // namespace ringside::gui

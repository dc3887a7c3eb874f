#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ringside::gui {

/// A file of a folder that may be opened.
struct FolderEntry {
  enum class Kind : std::uint8_t { Folder, Trace, Scenario, Other };
  std::string name;
  Kind kind = Kind::Other;
  std::uint64_t bytes = 0;
};

/// Chooses files for the window: a folder, its entries, and the marked ones.
class Chooser {
 public:
  static constexpr std::size_t kMostEntries = 2000;

  /// Goes to a folder and reads it; for a file, to its folder, with the file marked. Clears all other marks.
  void go(const std::string& path);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Folders first, then traces and scenarios, then the rest; each by name. Hidden ones are omitted.
  [[nodiscard]] const std::vector<FolderEntry>& entries() const { return entries_; }
  /// Why there are none, or not all; empty: all are listed.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  /// Enters a folder; marks or unmarks a file.
  void click(const FolderEntry& entry);
  [[nodiscard]] bool is_marked(const std::string& name) const { return marked_.contains(name); }
  [[nodiscard]] std::size_t marked() const { return marked_.size(); }

  /// The paths that Open opens: the marked files, else the folder.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  std::string folder_;
  std::vector<FolderEntry> entries_;
  std::string trouble_;
  std::set<std::string> marked_;
};

}  // namespace ringside::gui

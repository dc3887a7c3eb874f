#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ringside::gui {

/// An entry of a folder.
struct FolderEntry {
  enum class Kind : std::uint8_t { Folder, Trace, Scenario, Other };
  std::string name;
  Kind kind = Kind::Other;
  std::uint64_t bytes = 0;
};

/// The state of the file chooser: a folder, its entries, and the marked files.
class Chooser {
 public:
  static constexpr std::size_t kMostEntries = 2000;

  /// Opens and reads a folder; for a file, reads its folder and marks the file. Clears other marks.
  void go(const std::string& path);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Returns folders first, then traces and scenarios, then other files; each sorted by name.
  /// Hidden files are omitted.
  [[nodiscard]] const std::vector<FolderEntry>& entries() const { return entries_; }
  /// Returns the reason why entries are missing; empty: all are listed.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  /// Enters a folder; marks or unmarks a file.
  void click(const FolderEntry& entry);
  [[nodiscard]] bool is_marked(const std::string& name) const { return marked_.contains(name); }
  [[nodiscard]] std::size_t marked() const { return marked_.size(); }

  /// Returns the paths to open: the marked files, or else the folder.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  std::string folder_;
  std::vector<FolderEntry> entries_;
  std::string trouble_;
  std::set<std::string> marked_;
};

}  // namespace ringside::gui

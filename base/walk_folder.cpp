#include "base/walk_folder.h"

namespace ringside {

namespace fs = std::filesystem;

// Not recursive_directory_iterator: at a folder without permission it either stops or skips it silently.
std::vector<UnreadFolder> walk_folder(
    const std::string& path, const std::function<bool(const fs::directory_entry&)>& visit) {
  std::vector<UnreadFolder> unread;
  std::vector<fs::path> waiting{path};
  while (!waiting.empty()) {
    const fs::path folder = std::move(waiting.back());
    waiting.pop_back();
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed); !failed && at != fs::directory_iterator();
         at.increment(failed)) {
      std::error_code ignored;
      const bool is_folder = at->is_directory(ignored) && !at->is_symlink(ignored);
      if (visit(*at) && is_folder) waiting.push_back(at->path());
    }
    if (failed) unread.push_back({folder.string(), failed});
  }
  return unread;
}

}  // namespace ringside

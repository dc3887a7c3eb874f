#include "base/shipped_file.h"

#include <filesystem>
#include <system_error>

namespace ringside {
namespace {

namespace fs = std::filesystem;

/// Returns the build tree that contains the program; empty: none.
fs::path build_tree_of(const fs::path& program) {
  std::error_code ignored;
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / "CMakeCache.txt", ignored)) return folder;
  }
  return {};
}

}  // namespace

std::string running_program() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

std::vector<std::string> shipped_places(const std::string& program, const std::string& file,
                                        const std::string& in_build) {
  const fs::path folder = fs::path(program).parent_path();
  if (folder.empty()) return {};
  std::vector<std::string> all{folder / file, folder.parent_path() / "libexec" / "ringside" / file};
  const fs::path build = build_tree_of(program);
  if (!build.empty()) all.push_back(build / in_build / file);
  return all;
}

}  // namespace ringside

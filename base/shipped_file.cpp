#include "base/shipped_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCache = "CMakeCache.txt";

/// Returns the source tree of a build tree; empty: CMake's cache does not name it.
fs::path source_tree_of(const fs::path& build) {
  constexpr std::string_view kKey = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  std::ifstream cache(build / kCache);
  for (std::string line; std::getline(cache, line);) {
    if (line.starts_with(kKey)) return line.substr(kKey.size());
  }
  return {};
}

}  // namespace

std::string build_tree_of(const std::string& file) {
  std::error_code ignored;
  for (fs::path folder = fs::path(file).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / kCache, ignored)) return folder;
  }
  return {};
}

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

std::optional<std::string> shipped_file(const std::string& path, const std::string& program) {
  // Nothing outside these folders is meant, wherever the path leads.
  constexpr std::array kFolders{"scenarios", "docs", "python"};
  const fs::path wanted = fs::path(path).lexically_normal();
  const bool is_shipped =
      wanted.is_relative() && std::ranges::find(kFolders, *wanted.begin()) != kFolders.end();
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  if (!is_shipped) return std::nullopt;
  const std::string self = program.empty() ? running_program() : program;
  const fs::path prefix = fs::path(self).parent_path().parent_path();
  if (const fs::path installed = prefix / "share" / "ringside" / wanted;
      fs::exists(installed, ignored))
    return installed;
  const std::string build = build_tree_of(self);
  if (build.empty()) return std::nullopt;
  const fs::path source = source_tree_of(build);
  if (!source.empty() && fs::exists(source / wanted, ignored)) return source / wanted;
  return std::nullopt;
}

}  // namespace ringside

#pragma once

#include <optional>
#include <string>

namespace ringside {

/// Finds a file that comes with ringside: in scenarios/, docs/ or python/ of the source tree, by the path that documents
/// and messages give it. It may lie in the current folder, in share/ringside of the program's prefix, or in the source tree
/// of the build tree that contains the program.
///
/// path     relative: scenarios/hangs/killed-rank.yaml
/// program  full path of the program; empty: the one that runs
/// returns  where it is; the path itself if the current folder has it
std::optional<std::string> shipped_file(const std::string& path, const std::string& program = {});

/// Returns the build tree that contains the file; empty: none.
std::string build_tree_of(const std::string& file);

}  // namespace ringside

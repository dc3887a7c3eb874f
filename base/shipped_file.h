#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// Returns the path of the running program; empty: unknown.
std::string running_program();

/// Returns the places of a file that is installed with a program, in the order in which to look: next to the program; in
/// the libexec folder of its prefix; in the build tree that contains it (a parent folder with a CMakeCache.txt).
/// program    path; empty: no place
/// in_build   folder of the file in a build tree
std::vector<std::string> shipped_places(const std::string& program, const std::string& file,
                                        const std::string& in_build);

}  // namespace ringside

#pragma once

#include <string>
#include <vector>

namespace ringside {

/// Returns the path of the running program; empty: unknown.
std::string running_program();

/// Returns the places of a file that is installed with a program, in the order in which to look: next to the program; in
/// the libexec folder of its prefix; in the build tree that contains it (a parent folder with a CMakeCache.txt).
/// program    path; empty: no place
/// in_build   folder of the file in a build tree
std::vector<std::string> shipped_places(const std::string& program, const std::string& file,
                                        const std::string& in_build);

}  // namespace ringside

#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Makes the folder, and its parents. A folder that is not empty is refused and left unchanged, so that no file of the
/// user is overwritten or mixed with new ones.
/// errors  InvalidArgument: it holds something, or a file is in its way.  System: it cannot be made or read
Status make_empty_folder(const std::string& path);

/// Checks that a command may write to a folder again: the folder does not exist, is empty, or contains the file `mark`,
/// which the command writes to all its folders.
/// errors  InvalidArgument: it holds other files only, or a file is in its way.  System: it cannot be read
Status check_own_folder(const std::string& path, const std::string& mark);

/// Returns the names of the entries of a folder, sorted.
/// errors  System: names the folder, which does not exist or cannot be read
Result<std::vector<std::string>> names_in(const std::string& folder);

/// Returns the same for a folder that may not exist, such as those of /sys.
/// returns  empty if it cannot be read
std::vector<std::string> names_or_none(const std::string& folder);

/// Returns the paths of the regular files in a folder and the folders below it, sorted. Links to files count as files;
/// links to folders are not followed.
/// errors  InvalidArgument: names the folder that cannot be read
Result<std::vector<std::string>> files_below(const std::string& folder);

}  // namespace ringside

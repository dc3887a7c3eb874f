#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Makes the folder, and its parents, for files of its own. A folder that holds anything already is refused and
/// left unchanged, whatever wrote it.
/// errors  InvalidArgument: it holds something, or a file is in its way.  System: it cannot be made or read
Status make_empty_folder(const std::string& path);

/// Whether a command may go on in a folder that it has written to before: the folder is not there yet, is empty, or
/// holds the file `mark`, which the command leaves in all its folders.
/// errors  InvalidArgument: it holds other files only, or a file is in its way.  System: it cannot be read
Status check_own_folder(const std::string& path, const std::string& mark);
/// The names of what a folder holds, sorted.
/// errors  System: names the folder, which does not exist or cannot be read
Result<std::vector<std::string>> names_in(const std::string& folder);

/// Does the same for a folder that may not exist, such as those of /sys.
/// returns  empty if it cannot be read
std::vector<std::string> names_or_none(const std::string& folder);

/// Returns the paths of the regular files in a folder and the folders below it, sorted. Links to files count as files;
/// links to folders are not followed.
/// errors  InvalidArgument: names the folder that cannot be read
Result<std::vector<std::string>> files_below(const std::string& folder);

}  // namespace ringside

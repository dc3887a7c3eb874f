#pragma once

#include <string>

#include "base/result.h"

namespace ringside {

/// Makes the folder, with those above it, for files that are to stand there alone. What is there already stays
/// as it is: a folder that holds anything is refused, whoever wrote it.
/// errors  InvalidArgument: it holds something, or a file is in its way.  System: it cannot be made or read
Status make_empty_folder(const std::string& path);

/// Whether a command may go on in a folder that it has written to before: the folder is not there yet, is empty, or
/// holds the file `mark`, which the command leaves in all its folders.
/// errors  InvalidArgument: it holds other files only, or a file is in its way.  System: it cannot be read
Status check_own_folder(const std::string& path, const std::string& mark);

}  // namespace ringside

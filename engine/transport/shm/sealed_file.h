#pragma once

#include <cstddef>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

/// Makes a memfd of a fixed size: it is sealed, so that no process can shrink it, which would kill the processes that
/// map it.
/// errors  System
Result<UniqueFd> make_sealed_file(std::size_t size);

/// Returns the size of a file that another process made with make_sealed_file().
/// errors  Corrupt: the file is not a memfd that is sealed against shrinking
Result<std::size_t> sealed_size(int fd);

}  // namespace ringside

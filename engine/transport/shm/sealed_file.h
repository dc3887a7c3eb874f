#pragma once

#include <cstddef>

#include "base/fd.h"
#include "base/result.h"

namespace ringside {

/// A file without a name that lies in memory and keeps its size: another process cannot shrink it, which would
/// kill the processes that map it.
/// errors  System
Result<UniqueFd> make_sealed_file(std::size_t size);

/// The size of what make_sealed_file() of another process made.
/// errors  Corrupt: it is no such file
Result<std::size_t> sealed_size(int fd);

}  // namespace ringside

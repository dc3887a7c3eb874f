#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "ringside/units.h"

namespace ringside {

/// A file opened for reading.
struct OpenedFile {
  UniqueFd fd;
  /// Bytes that were read from a pipe while waiting for its writer: they precede the bytes that `fd` returns
  std::string head;
};

/// Opens a file for reading. A named pipe is waited for until a program writes to it, for at most 5 s.
/// errors  NotFound: no such file, or a pipe without a writer.  System: it cannot be opened.
Result<OpenedFile> open_to_read(const std::string& path, Clock& clock = real_clock());

/// The size limit of files that are read whole where the caller names no other.
inline constexpr Bytes kMostOfAFile{std::uint64_t{1} << 30};

/// Reads the whole file as text; a pipe until its writer closes it.
/// errors  as open_to_read().  InvalidArgument: a folder, or more than `most`.  System: it cannot be read.
Result<std::string> read_file(const std::string& path, Bytes most);

}  // namespace ringside

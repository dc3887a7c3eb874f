#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "diag/logparse/log_files.h"

namespace ringside::logs {

class Blocks;

/// A stream of bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Reads up to room.size() bytes and returns their number; 0 at the end.
  /// errors  System: the source cannot be read.  Corrupt: compressed data is damaged or ends early. The bytes before
  ///         the error are valid.
  virtual Result<std::size_t> read(std::span<char> room) = 0;

  /// Returns the remaining bytes in blocks. Do not call read() afterwards.
  virtual std::unique_ptr<Blocks> blocks();
};

/// Opens a file at offset `begin`; "-" is stdin. Waits up to five seconds for the writer of a named pipe. From offset 0,
/// decompresses data whose first bytes show a compression, and refuses binary data.
/// shape   begin is 0 for streams and compressed files
/// errors  NotFound: the file does not exist, or a pipe has no writer.  System: it cannot be opened or read.  Corrupt: the
///         file is binary (binary_kind())
Result<std::unique_ptr<ByteSource>> open_source(const std::string& name, std::uint64_t begin,
                                                Clock& clock = real_clock());

/// Returns the compression that the first bytes of a file show.
Compression compression_of(std::span<const char> head);

/// Returns the type of a binary file by its first bytes, such as "an executable", or "binary data" if many of them are
/// control characters; nullptr if it may be text.
const char* binary_kind(std::span<const char> head);

}  // namespace ringside::logs

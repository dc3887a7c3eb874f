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

/// Bytes from front to end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// returns  bytes put into `room`; 0: the end
  /// errors   System: it cannot be read.  Corrupt: compressed data that is damaged or ends early. Earlier bytes are
  ///          valid.
  virtual Result<std::size_t> read(std::span<char> room) = 0;

  /// All remaining bytes, in blocks; do not call read() as well.
  virtual std::unique_ptr<Blocks> blocks();
};

/// Opens one file from `begin` on; "-" is stdin. A named pipe's writer has five seconds to open it. Compressed data,
/// recognised by their first bytes, are decompressed.
/// shape   begin is 0 for streams and compressed files
/// errors  NotFound, System
Result<std::unique_ptr<ByteSource>> open_source(const std::string& name, std::uint64_t begin,
                                                Clock& clock = real_clock());

/// The compression that the first bytes of a file show.
Compression compression_of(std::span<const char> head);

/// Why a file with these first bytes is no text, such as "an executable"; nullptr: it may be text.
const char* binary_kind(std::span<const char> head);

}  // namespace ringside::logs

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
  /// errors   System: it cannot be read.  Corrupt: compressed data that is damaged or ends early. What came
  ///          before it counts.
  virtual Result<std::size_t> read(std::span<char> room) = 0;

  /// All bytes that are left, in blocks; read() is not used besides.
  virtual std::unique_ptr<Blocks> blocks();
};

/// Opens one file from `begin` on; "-" is stdin. A named pipe gets five seconds for its writer to come. Compressed data, told by their first bytes, come out unpacked.
/// shape   begin is 0 for streams and compressed files
/// errors  NotFound, System
Result<std::unique_ptr<ByteSource>> open_source(const std::string& name, std::uint64_t begin,
                                                Clock& clock = real_clock());

/// What the first bytes of a file say.
Compression compression_of(std::span<const char> head);

/// Why a file with these first bytes is no text, such as "an executable"; nullptr: it may be text.
const char* binary_kind(std::span<const char> head);

}  // namespace ringside::logs

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "diag/logparse/byte_source.h"

namespace ringside::logs {

/// A file or a stream in blocks. The end of the previous block is kept before each block, so that a line which spans
/// both lies in one piece.
class Blocks {
 public:
  static constexpr std::size_t kMost = 32 << 10;  ///< bytes of a block: it stays in the first cache
  static constexpr std::size_t kSlack = 320;      ///< bytes that can be read after each block

  virtual ~Blocks() = default;

  /// The next block; empty: the end, or an error in status().
  ///
  /// kept       bytes before it, also before an empty one, that must be available: the last ones of the previous
  ///            block and those kept before it
  /// ownership  until the next call
  virtual std::span<const char> next(std::size_t kept) = 0;

  /// errors  those of ByteSource::read(). Corrupt: the file was made shorter while it was read
  [[nodiscard]] const Status& status() const { return status_; }

 protected:
  Status status_ = {};
};

/// Blocks of a source, copied into a buffer.
/// before  bytes whose end next() keeps before the first block
std::unique_ptr<Blocks> copied_blocks(ByteSource& source, std::span<const char> before = {});

/// Blocks of a file where the kernel has them, without a copy.
///
/// fd    a regular file, whose position is not used; from: where to start
/// name  for errors
std::unique_ptr<Blocks> mapped_blocks(int fd, std::uint64_t from, const std::string& name);

}  // namespace ringside::logs

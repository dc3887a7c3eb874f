#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "diag/logparse/byte_source.h"

namespace ringside::logs {

/// Reads a file or a stream in blocks. The end of the previous block can be kept in front of a block, so that a line in
/// both is contiguous.
class Blocks {
 public:
  static constexpr std::size_t kMost = 32 << 10;  ///< size of a block: fits the L1 cache
  static constexpr std::size_t kSlack = 320;      ///< readable bytes after each block

  virtual ~Blocks() = default;

  /// Returns the next block; empty at the end or after an error (status()).
  ///
  /// kept       number of last bytes of the previous block, including those kept before it, that must be readable in
  ///            front of the returned block, even if it is empty
  /// Ownership  the block is valid until the next call
  virtual std::span<const char> next(std::size_t kept) = 0;

  /// Returns the error that ended the blocks, if any.
  /// errors  those of ByteSource::read(). Corrupt: the file was truncated while it was read
  [[nodiscard]] const Status& status() const { return status_; }

 protected:
  Status status_ = {};
};

/// Returns the blocks of a source, copied into a buffer.
/// before  bytes in front of the source, whose end next() can keep in front of the first block
std::unique_ptr<Blocks> copied_blocks(ByteSource& source, std::span<const char> before = {});

/// Returns the blocks of a memory-mapped file, without a copy.
///
/// fd    a regular file; its position is not used
/// from  offset of the first block
/// name  the file's name in errors
std::unique_ptr<Blocks> mapped_blocks(int fd, std::uint64_t from, const std::string& name);

}  // namespace ringside::logs

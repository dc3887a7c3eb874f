#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ringside {

/// A part of a rank's flight recorder dump, as one block holds it.
///
/// Ownership  `bytes` belong to somebody else: the dump, or the payload of the block
struct TraceDumpPart {
  std::int32_t rank = 0;          ///< of the job
  std::uint64_t offset = 0;       ///< of the part in the dump, in bytes
  std::uint64_t total_bytes = 0;  ///< of the dump
  std::span<const std::byte> bytes;
};

}  // namespace ringside

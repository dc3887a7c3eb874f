#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// The fixed parts of an .rtrace file: a header, then frames that hold one FlatBuffer each.
/// docs/reference/rtrace-format.md has the grammar; all numbers are little-endian.
namespace ringside::rtrace {

using Magic = std::array<unsigned char, 8>;

inline constexpr Magic kFileMagic{0x89, 'R', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr Magic kFrameMagic{0x8a, 'r', 't', 'b', 'l', 'o', 'c', 'k'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::size_t kAlignment = 8;  ///< payloads are padded to it
/// Maximum payload in bytes; bounds what a reader has to hash.
inline constexpr std::uint32_t kMostPayload = 1U << 20;

/// The first bytes of a file.
struct FileHeader {
  Magic magic = kFileMagic;
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(FileHeader) == 16);

/// The header of a block.
struct Frame {
  Magic magic = kFrameMagic;
  std::uint32_t payload_bytes = 0;  ///< a multiple of kAlignment, at most kMostPayload
  std::uint32_t pid = 0;
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Frame) == 24);

/// Returns XXH3 of the payload, seeded with the frame's other fields, so that it protects them as
/// well.
std::uint64_t checksum_of(std::span<const std::byte> payload, std::uint32_t pid);

/// Returns the frame that precedes `payload`.  shape  size as Frame::payload_bytes
Frame frame_for(std::span<const std::byte> payload, std::uint32_t pid);

/// Returns true if `frame` can precede that many bytes: checks magic and size, not the checksum.
[[nodiscard]] inline bool is_plausible(const Frame& frame, std::size_t bytes_behind) {
  return frame.magic == kFrameMagic && frame.payload_bytes % kAlignment == 0 &&
         frame.payload_bytes <= kMostPayload && frame.payload_bytes <= bytes_behind;
}

/// Copies a header or frame from the front of `bytes`.  shape  bytes.size() >= sizeof(Fixed)
template <typename Fixed>
Fixed read_fixed(std::span<const std::byte> bytes) {
  Fixed fixed;
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  return fixed;
}

}  // namespace ringside::rtrace

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace ringside {

inline constexpr std::size_t kFrameHeader =
    4;  ///< bytes of length before the payload, little-endian

std::array<std::byte, kFrameHeader> frame_header(std::size_t payload);

/// The length that a header holds.
std::size_t frame_length(std::span<const std::byte, kFrameHeader> header);

/// Header and payload as one run of bytes.
std::vector<std::byte> make_frame(std::span<const std::byte> payload);

/// Gathers one frame from pieces as they come. Asks for exact counts, so that nothing behind the
/// frame is taken from the socket.
class FrameReader {
 public:
  /// A frame longer than `limit` is refused before a byte of it is stored.
  explicit FrameReader(std::size_t limit) : limit_(limit) {}

  /// How many more bytes it takes now; 0 when the frame is whole or was refused.
  [[nodiscard]] std::size_t wanted() const;

  /// shape   at most wanted() bytes
  /// errors  Corrupt: the length is beyond the limit; the reader takes no more
  Status receive(std::span<const std::byte> bytes);

  [[nodiscard]] bool is_whole() const {
    return has_header_ && !is_refused_ && payload_.size() == length_;
  }

  /// The payload of a whole frame; the reader starts over with the next one.
  std::vector<std::byte> take();

 private:
  std::size_t limit_;
  bool has_header_ = false;
  bool is_refused_ = false;
  std::size_t length_ = 0;
  std::size_t header_bytes_ = 0;
  std::array<std::byte, kFrameHeader> header_{};
  std::vector<std::byte> payload_;
};

}  // namespace ringside

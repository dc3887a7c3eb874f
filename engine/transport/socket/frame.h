#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace ringside {

/// Size of the payload's length, which precedes it, bytes; little-endian
inline constexpr std::size_t kFrameHeader = 4;

std::array<std::byte, kFrameHeader> frame_header(std::size_t payload);

/// Returns the payload length that a header contains.
std::size_t frame_length(std::span<const std::byte, kFrameHeader> header);

/// Returns header and payload in one vector.
std::vector<std::byte> make_frame(std::span<const std::byte> payload);

/// Assembles one frame from the pieces that arrive. It asks for exact byte counts, so that the caller reads no byte
/// after the frame from the socket.
class FrameReader {
 public:
  /// limit  longest accepted payload, bytes; a longer frame is rejected before any byte of it is stored
  explicit FrameReader(std::size_t limit) : limit_(limit) {}

  /// Returns how many bytes to read next; 0 when the frame is complete or was rejected.
  [[nodiscard]] std::size_t wanted() const;

  /// shape   at most wanted() bytes
  /// errors  Corrupt: the length exceeds the limit; wanted() is 0 from now on
  Status receive(std::span<const std::byte> bytes);

  [[nodiscard]] bool is_whole() const {
    return has_header_ && !is_refused_ && payload_.size() == length_;
  }

  /// Returns the payload of a complete frame, and starts over with the next one.
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

#include "engine/transport/socket/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringside {

std::array<std::byte, kFrameHeader> frame_header(std::size_t payload) {
  RINGSIDE_ASSERT(payload <= UINT32_MAX, "a frame of {} bytes", payload);
  std::array<std::byte, kFrameHeader> header{};
  for (std::size_t i = 0; i < header.size(); ++i) {
    header[i] = static_cast<std::byte>((payload >> (8 * i)) & 0xff);
  }
  return header;
}

std::size_t frame_length(std::span<const std::byte, kFrameHeader> header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    length |= std::to_integer<std::size_t>(header[i]) << (8 * i);
  }
  return length;
}

std::vector<std::byte> make_frame(std::span<const std::byte> payload) {
  const auto header = frame_header(payload.size());
  std::vector<std::byte> frame(header.begin(), header.end());
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

std::size_t FrameReader::wanted() const {
  if (is_refused_) return 0;
  return has_header_ ? length_ - payload_.size() : kFrameHeader - header_bytes_;
}

Status FrameReader::receive(std::span<const std::byte> bytes) {
  RINGSIDE_ASSERT(bytes.size() <= wanted(), "{} bytes where {} are wanted", bytes.size(), wanted());
  if (has_header_) {
    payload_.insert(payload_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::copy(bytes.begin(), bytes.end(),
            header_.begin() + static_cast<std::ptrdiff_t>(header_bytes_));
  header_bytes_ += bytes.size();
  if (header_bytes_ < kFrameHeader) return {};
  const std::size_t length = frame_length(header_);
  has_header_ = true;
  if (length > limit_) {
    is_refused_ = true;
    return Error{ErrorCode::Corrupt,
                 fmt::format("a message of {} bytes where at most {} are taken", length, limit_)};
  }
  length_ = length;
  payload_.reserve(length_);
  return {};
}

std::vector<std::byte> FrameReader::take() {
  RINGSIDE_ASSERT(is_whole(), "{} bytes of the frame are missing", wanted());
  has_header_ = false;
  header_bytes_ = 0;
  length_ = 0;
  return std::exchange(payload_, {});
}

}  // namespace ringside

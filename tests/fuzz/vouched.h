#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "trace/format.h"

namespace ringside {

/// Corrects the checksum of every frame in the bytes: a fuzzer does not guess checksums.
inline void fix_checksums(std::span<std::byte> bytes) {
  using namespace rtrace;
  if (bytes.size() < sizeof(FileHeader)) return;
  const FileHeader header;
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t at = sizeof header; at + sizeof(Frame) <= bytes.size();) {
    const auto behind = bytes.subspan(at + sizeof(Frame));
    auto frame = read_fixed<Frame>(bytes.subspan(at));
    frame.magic = kFrameMagic;
    if (!is_plausible(frame, behind.size())) {
      ++at;
      continue;
    }
    frame.checksum = checksum_of(behind.first(frame.payload_bytes), frame.pid);
    std::memcpy(bytes.data() + at, &frame, sizeof frame);
    at += sizeof frame + frame.payload_bytes;
  }
}

}  // namespace ringside

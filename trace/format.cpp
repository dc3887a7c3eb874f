#include "trace/format.h"

#include <xxhash.h>

#include <bit>

namespace ringside::rtrace {

static_assert(std::endian::native == std::endian::little,
              "header and frames are copied as they lie in memory");

std::uint64_t checksum_of(std::span<const std::byte> payload, std::uint32_t pid) {
  const std::uint64_t seed = (std::uint64_t{pid} << 32) | payload.size();
  return XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

Frame frame_for(std::span<const std::byte> payload, std::uint32_t pid) {
  Frame frame;
  frame.payload_bytes = static_cast<std::uint32_t>(payload.size());
  frame.pid = pid;
  frame.checksum = checksum_of(payload, pid);
  return frame;
}

}  // namespace ringside::rtrace

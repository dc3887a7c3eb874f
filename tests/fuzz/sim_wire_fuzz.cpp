#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sim/wire.h"

/// A message between simulate() and its worker: whatever comes is decoded or refused. What is decoded can be
/// sent again, and means the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The length is the frame's business: it is made to fit.
  const auto length = static_cast<std::uint32_t>(size);
  std::vector<std::byte> bytes(sizeof length + size);
  std::memcpy(bytes.data(), &length, sizeof length);
  if (size > 0) std::memcpy(bytes.data() + sizeof length, data, size);
  const auto message = ringside::decode(bytes);
  if (!message) return 0;
  const std::vector<std::byte> again = ringside::encode(*message);
  const auto back = ringside::decode(again);
  if (!back || back->index() != message->index() || ringside::encode(*back) != again)
    __builtin_trap();
  return 0;
}

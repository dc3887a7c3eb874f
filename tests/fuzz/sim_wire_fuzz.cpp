#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "sim/wire.h"

/// Feeds a message between simulate() and its worker: it is decoded or refused. A decoded message can be sent again
/// with the same meaning.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The frame checks the length, so it is set to fit.
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

// Whatever a stranger can send to a port of ours, or hand a person as an id: the handshake from both
// sides, frames, hellos, messages, the text forms of addresses and ids. The first byte chooses which.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/runtime/launch.h"
#include "engine/runtime/messages.h"
#include "engine/runtime/unique_id.h"
#include "engine/transport/frame.h"
#include "engine/transport/handshake.h"

namespace ringside {
namespace {

/// Nobody who does not know the secret is let in, however the bytes are cut.
void shake(HandshakeRole role, std::span<const std::byte> bytes, std::size_t piece) {
  Handshake handshake(role, Secret{});
  while (!bytes.empty() && handshake.wanted() > 0) {
    const std::size_t size = std::min({bytes.size(), handshake.wanted(), piece});
    const Status taken = handshake.receive(bytes.first(size));
    bytes = bytes.subspan(size);
    handshake.sent(handshake.to_send().size());
    RINGSIDE_ASSERT(!handshake.is_done(), "a stranger was let in");
    if (!taken) RINGSIDE_ASSERT(handshake.wanted() == 0, "a refused peer is listened to");
  }
}

void read_frames(std::span<const std::byte> bytes) {
  constexpr std::size_t kLimit = 256;
  FrameReader reader(kLimit);
  while (!bytes.empty() && reader.wanted() > 0) {
    const std::size_t size = std::min(bytes.size(), reader.wanted());
    if (!reader.receive(bytes.first(size))) return;
    bytes = bytes.subspan(size);
    if (reader.is_whole())
      RINGSIDE_ASSERT(reader.take().size() <= kLimit, "a frame beyond its limit");
  }
}

/// What is read as a message is written as the same bytes.
template <typename Parse>
void read_message(std::span<const std::byte> bytes, const Parse& parse) {
  const auto message = parse(bytes);
  if (!message) return;
  RINGSIDE_ASSERT(std::ranges::equal(to_bytes(*message), bytes), "a message has two forms");
}

/// What is read as a value is written as a text that is read as the same value.
template <typename Parse>
void read_text(std::string_view text, const Parse& parse) {
  const auto value = parse(text);
  if (!value) return;
  const auto again = parse(to_string(*value));
  RINGSIDE_ASSERT(again && *again == *value, "a value changes by being written");
}

}  // namespace
}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  if (size == 0) return 0;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data + 1), size - 1);
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 12) {
    case 0:
      shake(HandshakeRole::Accepting, bytes, SIZE_MAX);
      break;
    case 1:
      shake(HandshakeRole::Connecting, bytes, SIZE_MAX);
      break;
    case 2:
      shake(HandshakeRole::Accepting, bytes, 7);
      break;
    case 3:
      read_frames(bytes);
      break;
    case 4:
      read_message(bytes, parse_join);
      break;
    case 5:
      read_message(bytes, parse_root);
      break;
    case 6:
      read_message(bytes, parse_ring_hello);
      break;
    case 7:
      read_message(bytes, parse_watch);
      break;
    case 8:
      read_text(text, parse_unique_id);
      break;
    case 9:
      read_text(text, parse_endpoint);
      break;
    case 10:
      static_cast<void>(parse_host_port(text));
      break;
    default:
      static_cast<void>(first_host_of(text));
      static_cast<void>(tasks_on_node(text, 3));
  }
  return 0;
}

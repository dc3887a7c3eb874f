// Feeds all that a stranger can send to a port of ours or give to a person as an id: the handshake of both sides,
// preambles, frames, lines, hellos, messages, and the text forms of addresses and ids. The first byte chooses one of
// them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/protocol/wire_lines.h"
#include "engine/runtime/bootstrap/launch.h"
#include "engine/runtime/bootstrap/messages.h"
#include "engine/runtime/bootstrap/unique_id.h"
#include "engine/runtime/watch/status_report.h"
#include "engine/transport/preamble.h"
#include "engine/transport/rdma/rdma_message.h"
#include "engine/transport/socket/frame.h"
#include "engine/transport/socket/handshake.h"
#include "engine/transport/tcp/socket_counts.h"
#include "engine/transport/tcp/striped.h"

namespace ringside {
namespace {

/// A peer without the secret is never accepted, however the bytes are split.
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

/// Accepted lines are those that the data make, except for the rest of the last line.
void read_lines(Protocol protocol, std::span<const std::byte> bytes) {
  constexpr std::uint64_t kStep = 0x0102;
  alignas(8) std::array<std::byte, 4096> wire{};
  std::array<std::byte, 1024> room{};
  const std::size_t size = std::min(bytes.size(), wire.size());
  std::ranges::copy(bytes.first(size), wire.begin());
  const auto data = unpack_wire(protocol, std::span(wire).first(size), kStep, room);
  if (!data) return;
  RINGSIDE_ASSERT(wire_size(protocol, Bytes{data->size()}) == Bytes{size}, "lines to spare");
  alignas(8) std::array<std::byte, 4096> packed{};
  pack_wire(protocol, std::span(packed).first(size), *data, kStep);
  std::array<std::byte, 1024> again{};
  const auto unpacked = unpack_wire(protocol, std::span(packed).first(size), kStep, again);
  RINGSIDE_ASSERT(unpacked && std::ranges::equal(*unpacked, *data), "lines change their data");
}

/// Only one preamble is accepted as ours.
void read_preamble(std::span<const std::byte> bytes) {
  if (bytes.size() < kPreamble) return;
  const ConnectionShape shape{Protocol::LL, Bytes{4096}};
  const auto theirs = bytes.first<kPreamble>();
  if (check_preamble(theirs, shape)) {
    RINGSIDE_ASSERT(std::ranges::equal(theirs, preamble_of(shape)), "two preambles are one");
  }
}

/// A message of an RDMA end that was parsed is written as the same message again.
void read_rdma(std::span<const std::byte> bytes) {
  const ConnectionShape shape{Protocol::LL, Bytes{4096}};
  // A peer that has come this far knows the shape.
  const auto preamble = preamble_of(shape);
  std::vector<std::byte> message(preamble.begin(), preamble.end());
  message.insert(message.end(), bytes.begin(), bytes.end());
  if (const auto info = parse_rdma_message(message, shape)) {
    const auto again = parse_rdma_message(make_rdma_message(*info, shape), shape);
    RINGSIDE_ASSERT(again && *again == *info, "an RDMA message changes by being written");
  }
  static_cast<void>(parse_rdma_answer(bytes));
}

/// The parts of a slot that several sockets carry lie within the slot.
void read_part(std::span<const std::byte> bytes) {
  if (bytes.size() < PartMark::kSize) return;
  constexpr Bytes kLongest{1 << 18};
  const auto wire = bytes.first<PartMark::kSize>();
  const auto mark = PartMark::read(wire, kLongest);
  if (!mark) return;
  RINGSIDE_ASSERT(mark->bytes >= 1 && std::uint64_t{mark->at} + mark->bytes <= mark->slot_bytes &&
                      mark->slot_bytes <= kLongest.value,
                  "a part beyond its slot");
  RINGSIDE_ASSERT(std::ranges::equal(mark->wire(), wire), "a part has two forms");
}

/// Reads what transports send to all ranks about themselves.
void read_addresses(std::string_view text) {
  const SocketCounts counts = parse_socket_counts(text);
  RINGSIDE_ASSERT(counts.sockets() >= 1 && counts.sockets() <= SocketCounts::kMostSockets,
                  "{} sockets", counts.sockets());
  const int queues = rdma_queues_of(text);
  RINGSIDE_ASSERT(queues >= 1 && queues <= static_cast<int>(kMostRdmaQueues / kMostRdmaPorts),
                  "{} queues", queues);
  RINGSIDE_ASSERT(text.starts_with(rdma_kind_of(text)), "another kind");
}

/// Bytes that are read as a message are written as the same bytes.
template <typename Parse>
void read_message(std::span<const std::byte> bytes, const Parse& parse) {
  const auto message = parse(bytes);
  if (!message) return;
  RINGSIDE_ASSERT(std::ranges::equal(to_bytes(*message), bytes), "a message has two forms");
}

/// Text that is read as a value is written as a text that is read as the same value.
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
  switch (data[0] % 22) {
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
    case 17:
      if (const auto status = parse_rank_status(text)) {
        RINGSIDE_ASSERT(parse_rank_status(to_wire(*status)), "a rank's status is not read back");
        static_cast<void>(status_text({&*status, 1}, Seconds{1}, true));
        static_cast<void>(status_json({&*status, 1}, Seconds{1}));
      }
      break;
    case 12:
      read_lines(Protocol::Simple, bytes);
      break;
    case 13:
      read_lines(Protocol::LL, bytes);
      break;
    case 14:
      read_lines(Protocol::LL128, bytes);
      break;
    case 15:
      read_preamble(bytes);
      break;
    case 16:
      read_message(bytes, parse_peer_info);
      break;
    case 18:
      read_rdma(bytes);
      break;
    case 19:
      read_message(bytes, parse_connection_hello);
      break;
    case 20:
      read_part(bytes);
      break;
    case 21:
      read_addresses(text);
      break;
    default:
      static_cast<void>(first_host_of(text));
      static_cast<void>(tasks_on_node(text, 3));
  }
  return 0;
}

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/end.h"
#include "engine/transport/preamble.h"
#include "engine/transport/tcp/socket_counts.h"
#include "ringside/units.h"

/// Connections over several TCP sockets, which threads of their own serve: where one socket's window, or one core's copies,
/// are less than the line. Each socket begins with the preamble. Then parts of slots come, each with a header:
///
///     0  4  the slot: how many were posted before it, modulo 2^32
///     4  4  bytes of the slot
///     8  4  where in it the part begins
///    12  4  bytes of the part
///
/// Numbers are little-endian. Which socket carries which part is the sender's choice. 8 slots lie on either side; what is
/// between them is the kernel's.
namespace ringside {

/// Slots are cut into parts of at least so many bytes.
/// source  NCCL, net_socket.cc: MIN_CHUNKSIZE
inline constexpr Bytes kLeastPart = 64_KiB;

/// All sockets of a connection, the one from the door first, watched for a peer that is silent.
/// shape  as many as socket_counts_of() says
std::vector<UniqueFd> take_sockets(Joint& joint);

/// The sockets are authenticated and non-blocking, in the same order on both ends, as many as `counts` says. Waits for nothing.
/// shape  Simple
/// errors  System: out of descriptors
Result<std::unique_ptr<SendEnd>> make_striped_send_end(std::vector<UniqueFd> sockets,
                                                       ConnectionShape shape, SocketCounts counts);

/// errors later, from peek()  InvalidArgument: the peer sends another protocol or slot size.  Corrupt: a part that no slot has
/// errors  as make_striped_send_end()
Result<std::unique_ptr<RecvEnd>> make_striped_recv_end(std::vector<UniqueFd> sockets,
                                                       ConnectionShape shape, SocketCounts counts);

/// A part's header.
struct PartMark {
  static constexpr std::size_t kSize = 16;
  std::uint32_t slot = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;

  [[nodiscard]] std::array<std::byte, kSize> wire() const;
  /// errors  Corrupt: no part of a slot of at most `longest` bytes
  static Result<PartMark> read(std::span<const std::byte, kSize> wire, Bytes longest);
  friend bool operator==(const PartMark&, const PartMark&) = default;
};

}  // namespace ringside

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

/// Connections over several TCP sockets that dedicated threads serve. They are faster if one socket's window or one
/// core's copy rate cannot fill the link. Each socket first carries the preamble, then parts of slots, each with a
/// header:
///
///      0  4  number of the slot: slots posted before it, modulo 2^32
///      4  4  bytes of the slot
///      8  4  offset of the part in the slot
///     12  4  bytes of the part
///
/// Numbers are little-endian. The sender chooses the socket of each part. Each end has 8 slots; the kernel buffers the
/// data in between.
namespace ringside {

/// Smallest part into which a slot is cut, except for its last.
/// source  NCCL, net_socket.cc: MIN_CHUNKSIZE
inline constexpr Bytes kLeastPart = 64_KiB;

/// Takes all sockets of a connection out of `joint`, the one of the door first, and enables keepalives on them.
/// shape  the number that socket_counts_of() gives
std::vector<UniqueFd> take_sockets(Joint& joint);

/// Makes the sending end, without waiting. The sockets are authenticated and non-blocking, counts.sockets() in number,
/// in the same order on both ends.
/// shape   protocol Simple
/// errors  System: out of descriptors
Result<std::unique_ptr<SendEnd>> make_striped_send_end(std::vector<UniqueFd> sockets,
                                                       ConnectionShape shape, SocketCounts counts);

/// Makes the receiving end, as above.
/// errors  as make_striped_send_end().  Later, from peek(): InvalidArgument: the peer sends another protocol or slot size;
///         Corrupt: a part outside of its slot
Result<std::unique_ptr<RecvEnd>> make_striped_recv_end(std::vector<UniqueFd> sockets,
                                                       ConnectionShape shape, SocketCounts counts);

/// The header of a part; its fields are listed at the top of this file.
struct PartMark {
  static constexpr std::size_t kSize = 16;
  std::uint32_t slot = 0;
  std::uint32_t slot_bytes = 0;
  std::uint32_t at = 0;
  std::uint32_t bytes = 0;

  [[nodiscard]] std::array<std::byte, kSize> wire() const;
  /// errors  Corrupt: not a part of a slot of at most `longest` bytes
  static Result<PartMark> read(std::span<const std::byte, kSize> wire, Bytes longest);
  friend bool operator==(const PartMark&, const PartMark&) = default;
};

}  // namespace ringside

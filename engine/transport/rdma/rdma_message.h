#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/transport/preamble.h"
#include "engine/transport/rdma/rdma_ports.h"

/// The messages that the ends of an RDMA connection exchange over the socket from the door, one frame (frame.h) each.
/// The receiver sends the address of its slots, the sender the address of its counter of free slots, and the receiver
/// then its answer (ready, or an error).
///
///      0  16  the preamble (preamble.h)
///     16   8  address to which the other end writes: slots, or the counter of free slots
///     24   2  number of ports
///     26   2  number of queues
///     28   4  zero
///     32  40  each port: GID (16), key of the memory (4), LID (2), MTU as verbs count it (1), is Ethernet (1),
///             name (16, filled up with zeros)
///          8  each queue: number (4), first packet's number (4)
///
/// Numbers are little-endian. Queue i connects port i of the sender to port i of the receiver, each modulo its number
/// of ports.
namespace ringside {

inline constexpr std::size_t kMostRdmaPorts = 4;
inline constexpr std::size_t kMostRdmaQueues = 128;
inline constexpr std::size_t kRdmaMessageLimit = 32 + kMostRdmaPorts * 40 + kMostRdmaQueues * 8;

/// What one end of a connection sends to the other: its ports, queues and memory.
struct RdmaEndInfo {
  struct Port {
    Gid gid;
    std::uint32_t key = 0;
    std::uint16_t lid = 0;
    std::uint8_t mtu = 0;
    bool is_ethernet = false;
    std::string name = {};  ///< "mlx5_0:1"; at most 16 bytes are sent
    friend bool operator==(const Port&, const Port&) = default;
  };
  struct Queue {
    std::uint32_t number = 0;
    std::uint32_t first_packet = 0;
    friend bool operator==(const Queue&, const Queue&) = default;
  };
  std::uint64_t memory = 0;
  std::vector<Port> ports;    ///< 1 .. kMostRdmaPorts
  std::vector<Queue> queues;  ///< 1 .. kMostRdmaQueues
  friend bool operator==(const RdmaEndInfo&, const RdmaEndInfo&) = default;
};

std::vector<std::byte> make_rdma_message(const RdmaEndInfo& info, ConnectionShape shape);

/// errors  Corrupt: not such a message.  InvalidArgument: the peer's connection has another shape, as check_preamble()
Result<RdmaEndInfo> parse_rdma_message(std::span<const std::byte> bytes, ConnectionShape shape);

/// Returns a rank's RDMA address for all ranks, such as "RoCE 4 mlx5_0:1 mlx5_1:1": the link type (equal on both ranks
/// of a connection), the queues of each port, and the ports. Ports beyond kLongestAddress are omitted.
std::string rdma_address(bool is_ethernet, int queues, std::span<const std::string> ports);
std::string_view rdma_kind_of(std::string_view address);
/// returns  queues of each port, 1 .. kMostRdmaQueues / kMostRdmaPorts; 1 if the address does not contain it
int rdma_queues_of(std::string_view address);

/// Encodes the receiver's answer: ready, or its error.
std::vector<std::byte> make_rdma_answer(const Status& status);
/// errors  System: the receiver could not connect; the text is the receiver's.  Corrupt: not an answer
Status parse_rdma_answer(std::span<const std::byte> bytes);

/// The immediate data of a write: its slot, and the number of bytes of the slot on the wire.
struct RdmaMark {
  static constexpr std::uint32_t kLongest = (1U << 24) - 1;  ///< largest slot, bytes
  std::uint32_t slot = 0;  ///< number of slots posted before, modulo 256
  std::uint32_t bytes = 0;

  [[nodiscard]] std::uint32_t word() const { return slot << 24 | bytes; }
  static RdmaMark from_word(std::uint32_t word) { return {word >> 24, word & kLongest}; }
};

}  // namespace ringside

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

/// What the ends of an RDMA connection send each other over the socket from the door, a frame (frame.h) each: the
/// receiver where its slots are, the sender where it wants to hear which are free, the receiver that it is ready.
///
///      0  16  the preamble (preamble.h)
///     16   8  where the other end writes: slots, or the counter of free ones
///     24   2  ports
///     26   2  queues
///     28   4  zero
///     32  40  each port: GID (16), key of the memory (4), LID (2), MTU as verbs count it (1), is Ethernet (1),
///             name (16, filled up with zeros)
///         8  each queue: number (4), first packet's number (4)
///
/// Numbers are little-endian. Queue i runs from the sender's port i to the receiver's, counted around.
namespace ringside {

inline constexpr std::size_t kMostRdmaPorts = 4;
inline constexpr std::size_t kMostRdmaQueues = 128;
inline constexpr std::size_t kRdmaMessageLimit = 32 + kMostRdmaPorts * 40 + kMostRdmaQueues * 8;

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

/// errors  Corrupt: it is none.  InvalidArgument: of a connection of another shape, as check_preamble()
Result<RdmaEndInfo> parse_rdma_message(std::span<const std::byte> bytes, ConnectionShape shape);

/// What all ranks learn of a rank's RDMA: "RoCE 4 mlx5_0:1 mlx5_1:1". Its kind, which both ranks of a connection must
/// have alike, queues of each port, ports.
std::string rdma_address(bool is_ethernet, int queues, std::span<const std::string> ports);
std::string_view rdma_kind_of(std::string_view address);
/// returns  1 .. kMostRdmaQueues / kMostRdmaPorts; 1 where it says none
int rdma_queues_of(std::string_view address);

/// "Ready", or why not.
std::vector<std::byte> make_rdma_answer(const Status& status);
/// errors  what the other end has answered; Corrupt: no answer
Status parse_rdma_answer(std::span<const std::byte> bytes);

/// What travels with a write: the slot that it belongs to, and how many bytes that holds on the wire.
struct RdmaMark {
  static constexpr std::uint32_t kLongest = (1U << 24) - 1;  ///< bytes of a slot
  std::uint32_t slot = 0;                                    ///< ever posted, modulo 256
  std::uint32_t bytes = 0;

  [[nodiscard]] std::uint32_t word() const { return slot << 24 | bytes; }
  static RdmaMark from_word(std::uint32_t word) { return {word >> 24, word & kLongest}; }
};

}  // namespace ringside

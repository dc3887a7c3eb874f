#pragma once

#include <ringside/export.h>
#include <ringside/vocabulary.h>

#include <cstdint>
#include <type_traits>

namespace RINGSIDE_API ringside {

/// What an event of a trace describes.
enum class EventKind : std::uint8_t {
  Collective = 0,  ///< a rank's whole call: no channel, peers, primitive; step: kChoiceIsKnown
  Primitive = 1,   ///< one primitive on one chunk
  /// A further peer of the preceding primitive (same rank, channel and step); the other fields equal those of the
  /// primitive.
  Peer = 2,
  /// Time in which the rank's GPU ran other kernels, as context for its calls. Only times, rank,
  /// communicator and channel (kComputeChannel) are set.
  Compute = 3,
};

/// The channel of all events of kind Compute.
inline constexpr std::uint16_t kComputeChannel = 0xFFFF;

/// The step of a whole call whose algorithm and protocol are known although the trace has no
/// primitives of it; 0: without primitives they are unknown.
inline constexpr std::uint32_t kChoiceIsKnown = 1;

/// One action of one rank, from begin to end. Plain data, one cache line.
///
/// unit    times: ns of trace_now() or of the simulator's clock when recorded; of the clock in
///         TraceInfo when read from a file. offset, bytes: bytes
/// shape   recv_peer, send_peer: -1 if the primitive does not receive, or does not send
struct TraceEvent {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t offset = 0;  ///< offset of the chunk in the written buffer, or else in the read one
  std::uint64_t bytes = 0;
  std::uint32_t sequence =
      0;  ///< number of the collective in the communicator: 1, 2, ..., as in dumps
  std::uint32_t communicator = 0;
  std::int32_t rank = 0;
  std::int32_t recv_peer = -1;
  std::int32_t send_peer = -1;
  std::uint32_t step = 0;  ///< number of the primitive on this rank and channel in the collective
  std::uint16_t channel = 0;
  EventKind kind = EventKind::Primitive;
  Primitive primitive = Primitive::Copy;
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  bool is_modelled = false;  ///< copies replaced a switch or a network that reduces
};
static_assert(sizeof(TraceEvent) == 64 && std::is_trivially_copyable_v<TraceEvent>);

}  // namespace ringside

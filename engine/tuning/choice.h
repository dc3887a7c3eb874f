#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"
#include "base/vocabulary.h"
#include "engine/channels/channels.h"

namespace ringside {

/// A chunk may take at most this many of a connection's 8 slots: a ring whose connections hold only
/// one chunk each deadlocks (every rank fills its connection before it empties the one towards it).
inline constexpr int kMaxSlotsPerChunk = 4;
inline constexpr int kMaxChannels = 64;  ///< source  NCCL's MAXCHANNELS

/// How a collective is done: the complete answer. Nothing downstream looks at the environment or at
/// the topology again.
struct Choice {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int nchannels = 1;
  Bytes slot;               ///< capacity of one slot of a connection
  int slots_per_chunk = 1;  ///< slots that each chunk takes, however short; 1 .. kMaxSlotsPerChunk
  Bytes chunk;              ///< at most, = slot x slots_per_chunk

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// How a collective runs over host memory, unless somebody overrides it. A slot is long enough to
/// make the cost of posting it small, and short enough that a connection's 8 fit a core's
/// second-level cache. `ringside bench all_reduce` over a range of sizes is what these numbers are
/// to be held against.
struct HostDefaults {
  int nchannels = 1;
  Bytes slot = 128_KiB;
  int slots_per_chunk = 4;
};
inline constexpr HostDefaults kHostDefaults;

/// What the user insists on.
struct HostOverrides {
  std::optional<int> nchannels = {};
  std::optional<Bytes> slot = {};
  std::optional<int> slots_per_chunk = {};
};

/// For ranks that keep their data in host memory.
///
/// bytes   of the larger of one rank's buffers (all-gather: of the gathered result)
/// errors  InvalidArgument: nchannels not in 1 .. kMaxChannels, slot not a multiple of 512 bytes in
///         512 B .. 64 MiB, slots_per_chunk not in 1 .. kMaxSlotsPerChunk
Result<Choice> choose_host(Collective collective, Bytes bytes, int nranks,
                           const HostOverrides& overrides = {});

}  // namespace ringside

#pragma once

#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/channels/channels.h"
#include "ringside/units.h"

namespace ringside {

/// Most slots of a connection that a chunk may take. A ring whose connections hold only one chunk deadlocks, since
/// every rank fills its outgoing connection before it drains the incoming one.
inline constexpr int kMaxSlotsPerChunk = kSlots / 2;
inline constexpr int kMaxChannels = 64;  ///< source  NCCL's MAXCHANNELS

/// The complete decision on how a collective runs. Later stages use neither the environment nor the topology.
struct Choice {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int nchannels = 1;
  Bytes slot;  ///< capacity of one slot of a connection
  /// Slots that each chunk takes, even a short one; 1 .. kMaxSlotsPerChunk
  int slots_per_chunk = 1;
  Bytes chunk = {};           ///< largest chunk = slot x slots_per_chunk
  int channels_per_peer = 0;  ///< exchanges: most channels for one transfer; 0: all
  /// The NVSwitch hardware reduces and multicasts; otherwise copies emulate it
  bool by_switch = false;

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Returns whether copies emulate a switch or network that reduces.
constexpr bool is_modelled(const Choice& choice) {
  return facts_of(choice.algorithm).is_modelled() && !choice.by_switch;
}

/// Validates a choice, and returns it with `chunk` computed from its slots.
/// errors  InvalidArgument: nchannels not in 1 .. kMaxChannels, slot not a multiple of 512 bytes in
///         512 B .. 64 MiB, slots_per_chunk not in 1 .. kMaxSlotsPerChunk
Result<Choice> make_choice(Choice choice);

}  // namespace ringside

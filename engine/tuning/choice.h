#pragma once

#include "base/result.h"
#include "base/vocabulary.h"
#include "engine/channels/channels.h"
#include "ringside/units.h"

namespace ringside {

/// A chunk may take at most this many of a connection's slots: a ring whose connections hold only
/// one chunk each deadlocks (every rank fills its connection before it empties the one towards it).
inline constexpr int kMaxSlotsPerChunk = kSlots / 2;
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
  Bytes chunk = {};         ///< at most, = slot x slots_per_chunk
  int channels_per_peer = 0;  ///< of an exchange: that one transfer is cut among at most; 0: all
  bool by_switch = false;  ///< the NVSwitch itself reduces and multicasts; else copies replace it

  friend bool operator==(const Choice&, const Choice&) = default;
};

/// Whether copies replace a switch or a network that reduces.
constexpr bool is_modelled(const Choice& choice) {
  return facts_of(choice.algorithm).is_modelled() && !choice.by_switch;
}

/// The choice, if it can run, with the chunk that its slots make. `chunk` is not read.
/// errors  InvalidArgument: nchannels not in 1 .. kMaxChannels, slot not a multiple of 512 bytes in
///         512 B .. 64 MiB, slots_per_chunk not in 1 .. kMaxSlotsPerChunk
Result<Choice> make_choice(Choice choice);

}  // namespace ringside

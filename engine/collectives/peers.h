#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"

/// The peers to which a rank's ports on a channel lead.
namespace ringside {

/// A group of ranks connected by a device that reduces and multicasts: an NVSwitch, or a network that reduces. Message
/// k of the group is the reduction of every sender's message k, left to right in the order of `senders`. Every receiver
/// receives every message.
///
/// load-reduce  many senders, one receiver: the receiver reads a slice of all members at once
/// multicast    one sender, many receivers
/// all-reduce   the same ranks on both sides: CollNet's network
struct SwitchGroup {
  enum class Medium : std::uint8_t { NvSwitch, Network };
  Medium medium = Medium::NvSwitch;
  int id = 0;  ///< equal on all members, and unique on the channel
  std::vector<Rank> senders;
  std::vector<Rank> receivers;
  friend bool operator==(const SwitchGroup&, const SwitchGroup&) = default;
};

/// The target of a port: one rank, or a group. Both ends of a connection use the same name for it: the pair of ranks
/// and `index`, or the group's id.
struct Peer {
  Rank rank = kNoRank;  ///< kNoRank: a group, or a port that the task never uses
  int index = 0;  ///< 1: the second connection from the one rank to the other (NCCL's connIndex)
  std::shared_ptr<const SwitchGroup> group = nullptr;

  [[nodiscard]] bool is_used() const { return rank != kNoRank || group != nullptr; }
};

}  // namespace ringside

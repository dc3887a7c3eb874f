#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"

/// Whom a rank is joined to on a channel: what its ports lead to.
namespace ringside {

/// Several ranks behind a device that reduces and multicasts: NVSwitch, or a network that reduces.
/// Each sender's message number k makes up message k of the group: what they have sent, reduced left to
/// right in the order of `senders`. Every receiver takes every message.
///
/// load-reduce  many senders, one receiver: the receiver reads a slice of all members at once
/// multicast    one sender, many receivers
/// all-reduce   the same ranks on both sides: CollNet's network
struct SwitchGroup {
  enum class Medium : std::uint8_t { NvSwitch, Network };
  Medium medium = Medium::NvSwitch;
  int id = 0;  ///< the same on all members, and no other group's on the channel
  std::vector<Rank> senders;
  std::vector<Rank> receivers;
  friend bool operator==(const SwitchGroup&, const SwitchGroup&) = default;
};

/// What a port leads to: one rank, or a group. Both ends of a connection name it alike: the pair of
/// ranks and `index`, or the group's id.
struct Peer {
  Rank rank = kNoRank;  ///< kNoRank: a group, or a port that the task never uses
  int index = 0;  ///< 1: the second connection from the one rank to the other (NCCL's connIndex)
  std::shared_ptr<const SwitchGroup> group = nullptr;

  [[nodiscard]] bool is_used() const { return rank != kNoRank || group != nullptr; }
};

}  // namespace ringside

#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"

/// Whom a rank is joined to on a channel. Ports are numbered apart for receiving and for sending; the
/// algorithm speaks of numbers only, its task's tables say what they lead to.
namespace ringside {

/// A set of ports: first + i for each bit i of `bits`. The default is port 0 alone, which is all that a
/// ring has.
struct Ports {
  std::uint16_t first = 0;
  std::uint16_t bits = 1;
  friend bool operator==(const Ports&, const Ports&) = default;

  [[nodiscard]] constexpr bool is_empty() const { return bits == 0; }
  [[nodiscard]] constexpr int count() const { return std::popcount(bits); }
};

inline constexpr int kMaxPortsInSet = 16;
inline constexpr Ports kNoPorts{0, 0};

constexpr Ports port(int number) { return {static_cast<std::uint16_t>(number), 1}; }

/// shape  count 0 .. kMaxPortsInSet
constexpr Ports ports_from(int first, int count) {
  return {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>((1U << count) - 1)};
}

/// Calls visit(port) in the order of their numbers, which is the order of reduction.
template <typename Visit>
constexpr void for_each_port(Ports ports, Visit&& visit) {
  for (unsigned bits = ports.bits; bits != 0; bits &= bits - 1) {
    visit(ports.first + std::countr_zero(bits));
  }
}

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

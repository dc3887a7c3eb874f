#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/collectives/task.h"
#include "engine/runtime/host/host_ports.h"
#include "engine/tuning/choice.h"

/// Groups whose switch does the work (Choice::by_switch). Each member's GPU has a copy of the group's slots, and
/// multimem instructions access all copies at one address.
///
/// load-reduce  each member stores its message into its own copy; the receiver, the head, loads all copies at once
/// multicast    the sender, the head, stores into all copies at once; each member reads its own copy
///
/// The head also has a connection to each member, without slots, whose counters show the progress of both. So waiting
/// works as with any other connection.
namespace ringside {

/// Identifies a group's slots.
struct SwitchName {
  std::uint32_t channel = 0;
  std::uint32_t group = 0;
  std::uint64_t slot_size = 0;
  bool reduces = false;       ///< load-reduce; else multicast
  Rank head{0};               ///< the rank that loads, or stores, all copies at once
  std::vector<Rank> members;  ///< in the order of the node; the head is one of them
  friend auto operator<=>(const SwitchName&, const SwitchName&) = default;
};

/// The addresses of a group's slots for the kernels of one member.
struct SwitchSlots {
  std::byte* own = nullptr;  ///< this member's copy
  std::byte* all = nullptr;  ///< all copies: DeviceEnd::multicast
};

/// Returns the group of a port whose slots are behind a switch; null: the port has ordinary connections.
const SwitchGroup* switch_of(const Peer& peer, const Choice& choice);

SwitchName switch_name(const SwitchGroup& group, const PortNames& names);

/// Returns the groups of a task, without duplicates, in the same order on all members of a node.
std::vector<SwitchName> switches_of(const ChannelTask& task, Rank me, int channel,
                                    const Choice& choice);

/// Does the same as name_ports() and connections_of(), but ports to a switch have names of their own and slots of 0
/// bytes.
NamedPorts name_device_ports(const std::vector<Peer>& peers, bool receives, const PortNames& names,
                             const Choice& choice);
std::vector<ConnectionId> device_connections_of(const ChannelTask& task, Rank me, int channel,
                                                const Choice& choice);

/// Returns the connection between the head and a member, whose counters go with the slots.
ConnectionId switch_connection(const SwitchName& name, Rank member);

/// Returns the bytes of a group's slots in one copy.
std::size_t switch_memory(const SwitchName& name, int slots);

}  // namespace ringside

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/collectives/task.h"
#include "engine/runtime/host/host_ports.h"
#include "engine/tuning/choice.h"

/// Groups whose switch does the work (Choice::by_switch). A group's slots lie in memory of each member's GPU, its copy,
/// and multimem instructions reach all copies at one address.
///
///   load-reduce  each member stores its message into its own copy; the receiver, the head, loads all of them at once
///   multicast    the sender, the head, stores into all copies at once; each member takes it from its own
///
/// Between the head and each member there is a connection, too, without slots: its counters say how far both are. So who
/// waits, and for whom, is as with any other connection.
namespace ringside {

/// Which group's slots.
struct SwitchName {
  std::uint32_t channel = 0;
  std::uint32_t group = 0;
  std::uint64_t slot_size = 0;
  bool reduces = false;       ///< load-reduce; else multicast
  Rank head{0};               ///< the rank that loads, or stores, all copies at once
  std::vector<Rank> members;  ///< in the order of the node; the head is one of them
  friend auto operator<=>(const SwitchName&, const SwitchName&) = default;
};

/// Where one member's kernels find them.
struct SwitchSlots {
  std::byte* own = nullptr;  ///< its copy
  std::byte* all = nullptr;  ///< all copies: DeviceEnd::multicast
};

/// The group behind a port whose slots lie so; null: the port leads to ordinary connections.
const SwitchGroup* switch_of(const Peer& peer, const Choice& choice);

SwitchName switch_name(const SwitchGroup& group, const PortNames& names);

/// Those of a task, each once, in order: the same on all members of a node.
std::vector<SwitchName> switches_of(const ChannelTask& task, Rank me, int channel,
                                    const Choice& choice);

/// As name_ports() and connections_of(), but ports next to a switch have names of their own, and slots of 0 bytes.
NamedPorts name_device_ports(const std::vector<Peer>& peers, bool receives, const PortNames& names,
                             const Choice& choice);
std::vector<ConnectionId> device_connections_of(const ChannelTask& task, Rank me, int channel,
                                                const Choice& choice);

/// The connection between the head and a member, whose counters go with the slots.
ConnectionId switch_connection(const SwitchName& name, Rank member);

/// Bytes of a group's slots in one copy.
std::size_t switch_memory(const SwitchName& name, int slots);

}  // namespace ringside

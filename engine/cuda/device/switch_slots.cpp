#include "engine/cuda/device/switch_slots.h"

#include <algorithm>
#include <memory>

#include "engine/cuda/device/device_call.h"

namespace ringside {
namespace {

/// Bits of the index of a connection that has only counters: one that marks it, since other indices are smaller, and
/// from kMembersAt on the group's number of members. So groups with the same number, such as those of nodes of
/// different sizes, have different connections.
constexpr std::uint32_t kCounters = 1U << 17;
constexpr std::uint32_t kMembersAt = 18;

bool reduces(const SwitchGroup& group) { return group.senders.size() > 1; }

const std::vector<Rank>& members_of(const SwitchGroup& group) {
  return reduces(group) ? group.senders : group.receivers;
}

ConnectionId counters_of(ConnectionId id, std::size_t members) {
  id.index += kCounters + (static_cast<std::uint32_t>(members) << kMembersAt);
  id.slot_size = 0;
  return id;
}

}  // namespace

const SwitchGroup* switch_of(const Peer& peer, const Choice& choice) {
  if (!choice.by_switch || peer.group == nullptr) return nullptr;
  const SwitchGroup& group = *peer.group;
  const bool is_one = members_of(group).size() < 2;
  return group.medium == SwitchGroup::Medium::NvSwitch && !is_one ? &group : nullptr;
}

SwitchName switch_name(const SwitchGroup& group, const PortNames& names) {
  return {.channel = static_cast<std::uint32_t>(names.channel),
          .group = static_cast<std::uint32_t>(group.id),
          .slot_size = names.slot_size.value,
          .reduces = reduces(group),
          .head = reduces(group) ? group.receivers.front() : group.senders.front(),
          .members = members_of(group)};
}

std::vector<SwitchName> switches_of(const ChannelTask& task, Rank me, int channel,
                                    const Choice& choice) {
  const PortNames names{me, channel, choice.protocol, choice.slot};
  std::vector<SwitchName> all;
  for (const std::vector<Peer>* peers : {&task.recv_peers, &task.send_peers}) {
    for (const Peer& peer : *peers) {
      const SwitchGroup* const group = switch_of(peer, choice);
      if (group != nullptr) all.push_back(switch_name(*group, names));
    }
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

NamedPorts name_device_ports(const std::vector<Peer>& peers, bool receives, const PortNames& names,
                             const Choice& choice) {
  NamedPorts named = name_ports(peers, receives, names);
  for (std::size_t port = 0; port < peers.size(); ++port) {
    const SwitchGroup* const group = switch_of(peers[port], choice);
    if (group == nullptr) continue;
    for (std::uint32_t i = named.first[port]; i < named.first[port + 1]; ++i) {
      named.ids[i] = counters_of(named.ids[i], members_of(*group).size());
    }
  }
  return named;
}

std::vector<ConnectionId> device_connections_of(const ChannelTask& task, Rank me, int channel,
                                                const Choice& choice) {
  const PortNames names{me, channel, choice.protocol, choice.slot};
  std::vector<ConnectionId> ids = name_device_ports(task.send_peers, false, names, choice).ids;
  const NamedPorts received = name_device_ports(task.recv_peers, true, names, choice);
  ids.insert(ids.end(), received.ids.begin(), received.ids.end());
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

ConnectionId switch_connection(const SwitchName& name, Rank member) {
  const std::vector<Rank> head{name.head}, other{member};
  const auto pair =
      std::make_shared<const SwitchGroup>(SwitchGroup{.id = static_cast<int>(name.group),
                                                      .senders = name.reduces ? other : head,
                                                      .receivers = name.reduces ? head : other});
  const PortNames names{.me = member, .channel = static_cast<int>(name.channel)};
  return counters_of(name_ports({{.group = pair}}, !name.reduces, names).ids.front(),
                     name.members.size());
}

std::size_t switch_memory(const SwitchName& name, int slots) {
  const std::int64_t slot =
      device_slot_memory(Protocol::Simple, static_cast<std::int64_t>(name.slot_size));
  return static_cast<std::size_t>(slot) * static_cast<std::size_t>(slots);
}

}  // namespace ringside

#include "engine/runtime/host/host_ports.h"

#include <algorithm>
#include <utility>

namespace ringside {
namespace {

constexpr std::uint32_t kGroups = 1U << 16;  // connection numbers from here on belong to groups

/// Calls visit(peer) for each rank behind the port, in the order of reduction.
template <typename Visit>
void for_each_rank(const Peer& peer, bool receives, Visit&& visit) {
  if (peer.group != nullptr) {
    for (const Rank rank : receives ? peer.group->senders : peer.group->receivers) visit(rank);
  } else if (peer.is_used()) {
    visit(peer.rank);
  }
}

ConnectionId name(const PortNames& names, const Peer& peer, Rank other, bool receives) {
  const auto mine = static_cast<std::uint32_t>(to_int(names.me));
  const auto others = static_cast<std::uint32_t>(to_int(other));
  const int index = peer.group != nullptr ? peer.group->id : peer.index;
  return {.from = receives ? others : mine,
          .to = receives ? mine : others,
          .channel = static_cast<std::uint32_t>(names.channel),
          .index = static_cast<std::uint32_t>(index) + (peer.group != nullptr ? kGroups : 0),
          .protocol = names.protocol,
          .slot_size = names.slot_size.value};
}

template <typename End>
HostPorts::Side<End> side_of(const std::vector<Peer>& peers, bool receives, const PortNames& names,
                             std::vector<HostPorts::Missing>& missing) {
  NamedPorts named = name_ports(peers, receives, names);
  HostPorts::Side<End> side;
  side.ends.resize(named.ids.size(), nullptr);
  side.counts.resize(named.ids.size(), nullptr);
  for (std::uint32_t end = 0; end < named.ids.size(); ++end) {
    missing.push_back({named.ids[end], end, receives});
  }
  side.peers = std::move(named.peers);
  side.first = std::move(named.first);
  return side;
}

/// returns  whether the connection exists now
bool add_if_made(HostPorts& ports, const HostPorts::Missing& one, const Connections& connections) {
  const auto add = [&](auto& side, auto* made) {
    if (made == nullptr) return false;
    side.ends[one.end] = made;
    side.counts[one.end] = &connections.count_of(one.id, one.receives);
    return true;
  };
  if (one.receives) return add(ports.recv, connections.find_recv_end(one.id));
  SendEnd* const made = connections.find_send_end(one.id);
  if (!add(ports.send, made)) return false;
  const bool is_known = std::ranges::find(ports.moving, made) != ports.moving.end();
  if (connections.transport_of(one.id).needs_progress && !is_known) ports.moving.push_back(made);
  return true;
}

}  // namespace

NamedPorts name_ports(const std::vector<Peer>& peers, bool receives, const PortNames& names) {
  NamedPorts named;
  for (const Peer& peer : peers) {
    named.first.push_back(static_cast<std::uint32_t>(named.ids.size()));
    for_each_rank(peer, receives, [&](Rank rank) {
      named.ids.push_back(name(names, peer, rank, receives));
      named.peers.push_back(rank);
    });
  }
  named.first.push_back(static_cast<std::uint32_t>(named.ids.size()));
  return named;
}

std::vector<ConnectionId> connections_of(const ChannelTask& task, Rank me, int channel,
                                         Protocol protocol, Bytes slot_size) {
  const PortNames names{me, channel, protocol, slot_size};
  std::vector<ConnectionId> ids;
  const auto add = [&](const std::vector<Peer>& peers, bool receives) {
    const NamedPorts named = name_ports(peers, receives, names);
    ids.insert(ids.end(), named.ids.begin(), named.ids.end());
  };
  add(task.send_peers, false);
  add(task.recv_peers, true);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

HostPorts ports_of(const ChannelTask& task, Rank me, int channel, Protocol protocol,
                   Bytes slot_size, const Connections& connections) {
  const PortNames names{me, channel, protocol, slot_size};
  HostPorts ports;
  ports.send = side_of<SendEnd>(task.send_peers, false, names, ports.missing);
  ports.recv = side_of<RecvEnd>(task.recv_peers, true, names, ports.missing);
  add_made(ports, connections);
  return ports;
}

bool add_made(HostPorts& ports, const Connections& connections) {
  return std::erase_if(ports.missing, [&](const HostPorts::Missing& one) {
           return add_if_made(ports, one, connections);
         }) > 0;
}

}  // namespace ringside

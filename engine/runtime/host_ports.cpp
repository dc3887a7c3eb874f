#include "engine/runtime/host_ports.h"

#include <algorithm>
#include <utility>

namespace ringside {
namespace {

constexpr std::uint32_t kGroups = 1U << 16;  // connection numbers from here on are of groups

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

template <typename End, typename Find>
HostPorts::Side<End> side_of(const std::vector<Peer>& peers, bool receives, const PortNames& names,
                             const Connections& connections, Find&& find) {
  NamedPorts named = name_ports(peers, receives, names);
  HostPorts::Side<End> side;
  for (const ConnectionId& id : named.ids) {
    side.ends.push_back(&find(id));
    side.counts.push_back(&connections.count_of(id, receives));
  }
  side.peers = std::move(named.peers);
  side.first = std::move(named.first);
  return side;
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
  ports.send = side_of<SendEnd>(task.send_peers, false, names, connections,
                                [&](const ConnectionId& id) -> SendEnd& {
                                  SendEnd& end = connections.send_end(id);
                                  if (connections.transport_of(id).needs_progress)
                                    ports.moving.push_back(&end);
                                  return end;
                                });
  ports.recv = side_of<RecvEnd>(
      task.recv_peers, true, names, connections,
      [&](const ConnectionId& id) -> RecvEnd& { return connections.recv_end(id); });
  std::ranges::sort(ports.moving);
  ports.moving.erase(std::ranges::unique(ports.moving).begin(), ports.moving.end());
  return ports;
}

}  // namespace ringside

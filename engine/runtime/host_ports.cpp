#include "engine/runtime/host_ports.h"

#include <algorithm>

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

/// What the connections of one task have in common.
struct Namer {
  Rank me;
  int channel;
  Protocol protocol;
  Bytes slot_size;

  [[nodiscard]] ConnectionId name(const Peer& peer, Rank other, bool receives) const {
    const auto mine = static_cast<std::uint32_t>(to_int(me));
    const auto others = static_cast<std::uint32_t>(to_int(other));
    const int index = peer.group != nullptr ? peer.group->id : peer.index;
    return {.from = receives ? others : mine,
            .to = receives ? mine : others,
            .channel = static_cast<std::uint32_t>(channel),
            .index = static_cast<std::uint32_t>(index) + (peer.group != nullptr ? kGroups : 0),
            .protocol = protocol,
            .slot_size = slot_size.value};
  }
};

template <typename End, typename Find>
HostPorts::Side<End> side_of(const std::vector<Peer>& peers, bool receives, const Namer& namer,
                             const Connections& connections, Find&& find) {
  HostPorts::Side<End> side;
  for (const Peer& peer : peers) {
    side.first.push_back(static_cast<std::uint32_t>(side.ends.size()));
    for_each_rank(peer, receives, [&](Rank rank) {
      const ConnectionId id = namer.name(peer, rank, receives);
      side.ends.push_back(&find(id));
      side.peers.push_back(rank);
      side.counts.push_back(&connections.count_of(id, receives));
    });
  }
  side.first.push_back(static_cast<std::uint32_t>(side.ends.size()));
  return side;
}

}  // namespace

std::vector<ConnectionId> connections_of(const ChannelTask& task, Rank me, int channel,
                                         Protocol protocol, Bytes slot_size) {
  const Namer namer{me, channel, protocol, slot_size};
  std::vector<ConnectionId> ids;
  const auto add = [&](const std::vector<Peer>& peers, bool receives) {
    for (const Peer& peer : peers) {
      for_each_rank(peer, receives,
                    [&](Rank rank) { ids.push_back(namer.name(peer, rank, receives)); });
    }
  };
  add(task.send_peers, false);
  add(task.recv_peers, true);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  return ids;
}

HostPorts ports_of(const ChannelTask& task, Rank me, int channel, Protocol protocol,
                   Bytes slot_size, const Connections& connections) {
  const Namer namer{me, channel, protocol, slot_size};
  HostPorts ports;
  ports.send = side_of<SendEnd>(task.send_peers, false, namer, connections,
                                [&](const ConnectionId& id) -> SendEnd& {
                                  SendEnd& end = connections.send_end(id);
                                  if (connections.transport_of(id).needs_progress)
                                    ports.moving.push_back(&end);
                                  return end;
                                });
  ports.recv = side_of<RecvEnd>(
      task.recv_peers, true, namer, connections,
      [&](const ConnectionId& id) -> RecvEnd& { return connections.recv_end(id); });
  std::ranges::sort(ports.moving);
  ports.moving.erase(std::ranges::unique(ports.moving).begin(), ports.moving.end());
  return ports;
}

}  // namespace ringside

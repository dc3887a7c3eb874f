#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/collectives/task.h"
#include "engine/runtime/host/connect.h"
#include "engine/runtime/host/connection_count.h"
#include "engine/transport/end.h"

namespace ringside {

/// The connection ends behind the ports of a task. A port to a rank has one end. A port to a group has one end per rank
/// of the group, which is how a host emulates a switch: the group's message is the senders' messages, reduced in order.
struct HostPorts {
  template <typename End>
  struct Side {
    std::vector<End*> ends;
    std::vector<Rank> peers;               ///< [end]: rank at the other side
    std::vector<ConnectionCount*> counts;  ///< [end]: progress of its connection
    /// [port]: index of its first end; plus a last element, the number of ends
    std::vector<std::uint32_t> first;

    [[nodiscard]] std::uint32_t begin(int port) const {
      return first[static_cast<std::size_t>(port)];
    }
    [[nodiscard]] std::uint32_t end(int port) const {
      return first[static_cast<std::size_t>(port) + 1];
    }
  };
  Side<RecvEnd> recv;
  Side<SendEnd> send;
  std::vector<SendEnd*> moving;  ///< ends on which a waiting thread has to call progress()

  /// An end that does not exist yet. Its entries in `ends` and `counts` are null.
  struct Missing {
    ConnectionId id;
    std::uint32_t end = 0;  ///< its index in the side's `ends`
    bool receives = false;
  };
  std::vector<Missing> missing = {};
};

/// The parts of a ConnectionId that all connections of one task share.
struct PortNames {
  Rank me{0};
  int channel = 0;
  Protocol protocol = Protocol::Simple;
  Bytes slot_size = {};
};

/// The connection ids of one side's ports, in the order of reduction. A group has one id for each of its ranks.
struct NamedPorts {
  std::vector<ConnectionId> ids;
  std::vector<Rank> peers;  ///< [id]: rank at the other side
  /// [port]: index of its first id; plus a last element, the number of ids
  std::vector<std::uint32_t> first;
};
NamedPorts name_ports(const std::vector<Peer>& peers, bool receives, const PortNames& names);

/// Returns the ids of all connections that the task needs, whether or not they exist.
/// channel  the channel that the task belongs to
std::vector<ConnectionId> connections_of(const ChannelTask& task, Rank me, int channel,
                                         Protocol protocol, Bytes slot_size);

/// Returns the task's ports after connect() with the ids of connections_of(). After begin(), some ends may be missing.
HostPorts ports_of(const ChannelTask& task, Rank me, int channel, Protocol protocol,
                   Bytes slot_size, const Connections& connections);

/// Fills in the missing ends that exist by now.
/// returns  whether it added at least one
bool add_made(HostPorts& ports, const Connections& connections);

}  // namespace ringside

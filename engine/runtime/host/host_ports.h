#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/collectives/task.h"
#include "engine/runtime/host/connect.h"
#include "engine/runtime/host/connection_count.h"
#include "engine/transport/end.h"

namespace ringside {

/// What the ports of a task lead to: of a rank one end, of a group one for each rank on its other side,
/// which is how a host models what a switch does. A group's message is what its senders' connections bring,
/// reduced in their order.
struct HostPorts {
  template <typename End>
  struct Side {
    std::vector<End*> ends;
    std::vector<Rank> peers;               ///< of each end
    std::vector<ConnectionCount*> counts;  ///< of each end
    std::vector<std::uint32_t> first;      ///< [port]: its first end; one more at the end

    [[nodiscard]] std::uint32_t begin(int port) const {
      return first[static_cast<std::size_t>(port)];
    }
    [[nodiscard]] std::uint32_t end(int port) const {
      return first[static_cast<std::size_t>(port) + 1];
    }
  };
  Side<RecvEnd> recv;
  Side<SendEnd> send;
  std::vector<SendEnd*> moving;  ///< that progress() moves: a thread that waits calls it

  /// An end that is yet to come: null among the ends, as its count is.
  struct Missing {
    ConnectionId id;
    std::uint32_t end = 0;  ///< of its side
    bool receives = false;
  };
  std::vector<Missing> missing = {};
};

/// What the connections of one task have in common.
struct PortNames {
  Rank me{0};
  int channel = 0;
  Protocol protocol = Protocol::Simple;
  Bytes slot_size = {};
};

/// One side's connections by name, in the order of reduction, where the ends of a group count one by one.
struct NamedPorts {
  std::vector<ConnectionId> ids;
  std::vector<Rank> peers;           ///< of each
  std::vector<std::uint32_t> first;  ///< [port]: its first one; one more at the end
};
NamedPorts name_ports(const std::vector<Peer>& peers, bool receives, const PortNames& names);

/// Names what the task's ports lead to: ends that are connected, or are to be.
/// channel  of the task
std::vector<ConnectionId> connections_of(const ChannelTask& task, Rank me, int channel,
                                         Protocol protocol, Bytes slot_size);

/// The task's ports, once connect() has made what connections_of() names. After begin() some may be missing.
HostPorts ports_of(const ChannelTask& task, Rank me, int channel, Protocol protocol,
                   Bytes slot_size, const Connections& connections);

/// Adds those of the missing ones that have been made since. returns  whether there were any
bool add_made(HostPorts& ports, const Connections& connections);

}  // namespace ringside

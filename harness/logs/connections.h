#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/channels/graph.h"
#include "engine/debuglog/channel_text.h"
#include "engine/debuglog/version.h"
#include "engine/topology/parameters.h"
#include "harness/logs/log_communicator.h"

namespace ringside {

/// Inputs that decide on the transport between two ranks, in addition to their places.
struct ConnectionRules {
  NcclVersion version;
  TopologyParameters topology;
  std::string network = "Socket";
  bool has_cumem = true;     ///< memory handles of the driver's virtual memory API
  bool refuses_p2p = false;  ///< the driver grants no peer access, except over NVLink
};

/// The connections of one rank, in the order in which NCCL sets up and logs them: peer after peer by distance,
/// receiving before sending, channel after channel. A connection that exists is not set up again, so call each function
/// once: connect_rings(), connect_trees(), connect_nvls_trees().
///
/// They return the connections whose line this rank logs: all that it sends on, and those that it receives on by the
/// network.
///
/// Ownership  the communicator's layout and the rules outlive it
/// Threads    one at a time
/// source     NCCL 2.30.7 transport.cc: ncclTransportP2pSetup
class RankConnections {
 public:
  RankConnections(const CommunicatorLayout& layout, const ConnectionRules& rules, int rank)
      : layout_(layout), rules_(rules), rank_(rank) {}

  /// Connects the rank with its neighbours in the ring of each channel.
  std::vector<ConnectionFacts> connect_rings();
  /// Connects the rank with its children and its parent in the tree of each channel.
  std::vector<ConnectionFacts> connect_trees();
  /// Connects the rank with its children and its parent in the NVLS tree of each NVLS channel. Empty without NVLS.
  std::vector<ConnectionFacts> connect_nvls_trees();

  /// Returns the use of PXN and GPUDirect RDMA by the rings; valid after connect_rings().
  [[nodiscard]] RingUse ring_use() const { return ring_use_; }

 private:
  enum class Direction : bool { Receive, Send };
  /// One direction of one channel to a peer.
  struct PlannedConnection {
    int distance;  ///< distance of the peer in this direction
    Direction direction;
    int channel;
    int peer;
  };
  /// Adds a connection that does not exist yet. Adds nothing for peer -1 or the rank itself.
  void plan(std::vector<PlannedConnection>& planned, Direction direction, int channel, int peer);
  void plan_tree(std::vector<PlannedConnection>& planned, int channel, const TreeEdges& edges);
  std::vector<ConnectionFacts> connect(std::vector<PlannedConnection> planned, GraphId graph);
  [[nodiscard]] ConnectionFacts facts(const PlannedConnection& one, GraphId graph) const;
  void add_p2p(ConnectionFacts& connection) const;
  void add_network(ConnectionFacts& connection, Direction direction, GraphId graph) const;
  /// Returns the NIC of a channel of that graph; -1: none.
  [[nodiscard]] int net_of(int channel, GraphId graph) const;

  const CommunicatorLayout& layout_;
  const ConnectionRules& rules_;
  int rank_;
  std::set<std::tuple<Direction, int, int>> connected_ = {};  ///< direction, channel, peer
  RingUse ring_use_ = {};
};

/// Returns the end of a connection at a rank, as connections name it.
ConnectionEnd connection_end(const CommunicatorLayout& layout, int rank);

}  // namespace ringside

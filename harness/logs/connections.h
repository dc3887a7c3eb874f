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

/// What decides by which transport two ranks connect, besides where they are.
struct ConnectionRules {
  NcclVersion version;
  TopologyParameters topology;
  std::string network = "Socket";
  bool has_cumem = true;     ///< memory handles of the driver's virtual memory API
  bool refuses_p2p = false;  ///< the driver grants no peer access over PCIe
};

/// The connections of one rank, as it prints them: in the order in which NCCL sets them up, peer after
/// peer by distance, receiving before sending. What is connected already is not connected again.
///
/// Ownership  borrows the communicator's layout
class RankConnections {
 public:
  RankConnections(const CommunicatorLayout& layout, const ConnectionRules& rules, int rank)
      : layout_(layout), rules_(rules), rank_(rank) {}

  std::vector<ConnectionFacts> rings();
  std::vector<ConnectionFacts> trees();
  std::vector<ConnectionFacts> nvls_trees();

  /// Of the rings that were asked for.
  [[nodiscard]] RingUse ring_use() const { return ring_use_; }

 private:
  enum class Way : bool { Receive, Send };
  /// One direction of one channel to a peer.
  struct PlannedConnection {
    int distance;  ///< of the peer, in the way's direction
    Way way;
    int channel;
    int peer;
  };
  void plan(std::vector<PlannedConnection>& planned, Way way, int channel, int peer);
  std::vector<ConnectionFacts> connect(std::vector<PlannedConnection> planned, GraphId graph);
  [[nodiscard]] ConnectionFacts facts(const PlannedConnection& one, GraphId graph) const;
  void add_network(ConnectionFacts& connection, Way way, GraphId graph) const;
  [[nodiscard]] int net_of(int channel, GraphId graph) const;

  const CommunicatorLayout& layout_;
  const ConnectionRules& rules_;
  int rank_;
  std::set<std::tuple<Way, int, int>> connected_ = {};  ///< way, channel, peer
  RingUse ring_use_ = {};
};

/// A rank as connections name it.
ConnectionEnd connection_end(const CommunicatorLayout& layout, int rank);

}  // namespace ringside

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
  bool refuses_p2p = false;  ///< the driver grants no peer access over PCIe
};

/// The connections of one rank in the order in which NCCL sets up and logs them: peer after peer by
/// distance, receiving before sending. Existing connections are not set up again.
///
/// Ownership  the communicator's layout outlives it
class RankConnections {
 public:
  RankConnections(const CommunicatorLayout& layout, const ConnectionRules& rules, int rank)
      : layout_(layout), rules_(rules), rank_(rank) {}

  std::vector<ConnectionFacts> rings();
  std::vector<ConnectionFacts> trees();
  std::vector<ConnectionFacts> nvls_trees();

  /// Returns the use of rings; valid after rings().
  [[nodiscard]] RingUse ring_use() const { return ring_use_; }

 private:
  enum class Way : bool { Receive, Send };
  /// One direction of one channel to a peer.
  struct PlannedConnection {
    int distance;  ///< distance of the peer in this direction
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

/// Returns the end of a connection at a rank, as connections name it.
ConnectionEnd connection_end(const CommunicatorLayout& layout, int rank);

}  // namespace ringside

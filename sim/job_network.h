#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/channels/job.h"
#include "engine/topology/parameters.h"
#include "sim/fabric/fabric.h"
#include "sim/model.h"
#include "sim/network.h"

namespace ringside {

/// The places of a job's nodes in a fabric.
struct JobFabric {
  const Fabric* fabric = nullptr;     ///< outlives the network
  std::vector<int> first_hosts = {};  ///< by node: its host, or the first host of its NVLink domain
};

/// Returns the key by which static routing distinguishes flows. Keys of different flows are
/// unrelated.
std::uint64_t flow_key(Rank from, Rank to, int channel);

/// The links of a job's nodes, joined by a fabric whose links lie between the NICs' cables. Without
/// a fabric, only the NICs' own cables limit messages between nodes.
///
/// Ranks of one node    the links of System::path, without those within a device (Loc)
/// Ranks of two nodes   GPU to NIC, the NIC's cable, the other NIC's cable, NIC to GPU. The graph
///                      gives the NIC of the channel. Without a graph the sender uses the NIC of
///                      its local GPU with the receiver's index (PXN), and the receiver uses its
///                      own NIC. Each pair of ranks on a channel is one flow of the fabric
/// Switch group         NVSwitch: the links of a GPU to and from the switch's vertex. A network
///                      that reduces: a tree of fabric routes; all messages of a channel go
///                      through one root
/// Few channels         if the channels together carry less than a GPU's widest link, the sends of
///                      a GPU on one channel are limited by a link of their own; so are the sends
///                      of an exchange to other nodes
///
/// A node whose ranks NCCL treats as separate hosts (path type Net) uses its NICs for messages
/// within the node, too.
///
/// source     NCCL 2.30.7 graph/search.cc: ncclTopoGetNetDev
/// Ownership  the job outlives the object
class JobNetwork : public SimNetwork {
 public:
  /// graph      graph of the algorithm; none: point-to-point
  /// model      rates that hardware achieves; null: rates of the description. Used during
  ///            construction only
  /// fabric     fabric == null: no contention between NICs
  /// nchannels  channels of the call; 0: channels limit no GPU
  JobNetwork(const Job& job, std::optional<GraphId> graph, const TopologyParameters& parameters,
             const SimModel* model = nullptr, JobFabric fabric = {}, int nchannels = 0);

  [[nodiscard]] int nranks() const override { return job_.nranks(); }
  [[nodiscard]] SimRoute route(Rank from, Rank to, int channel) const override;
  [[nodiscard]] SimRoute group_route(const SwitchGroup& group, int channel) const override;
  [[nodiscard]] SimLink link(int id) const override;
  [[nodiscard]] BytesPerSecond rate(int id) const override;
  [[nodiscard]] int first_fabric_link() const override;

  /// Returns true if another GPU of the sender's node passes the message to its NIC (PXN).
  /// shape  two different ranks
  [[nodiscard]] bool is_relayed(Rank from, Rank to, int channel) const;

  /// Returns the first two NICs that a route was requested for but that the fabric does not join;
  /// empty: none so far.
  /// "host 3 nic 1 (node 3: mlx5_1) with host 9 nic 0 (node 9: mlx5_0)"
  [[nodiscard]] std::string unjoined() const;

 private:
  struct Place {
    int node = 0;
    int gpu = 0;
  };
  enum class Way : bool { In, Out };

  [[nodiscard]] const Place& place(Rank rank) const {
    return places_[static_cast<std::size_t>(to_int(rank))];
  }
  [[nodiscard]] const System& system(int node) const;
  [[nodiscard]] int node_of_link(int id) const;
  [[nodiscard]] int net_of(const Place& at, int channel) const;
  [[nodiscard]] int net_towards(const Place& at, const Place& peer, int channel) const;
  void append(const Place& at, const Path& path, SimRoute& route) const;
  void append_net(const Place& at, int net, Way way, SimRoute& route) const;

  [[nodiscard]] bool is_channel(int id) const {
    return id >= first_channel_link_ && id < first_fabric_link_;
  }
  [[nodiscard]] bool is_bridge(int id) const {
    return id >= first_bridge_ && id < first_channel_link_;
  }
  /// The limit for a GPU's sends on a channel; an exchange has one limit within the node and one
  /// across nodes.
  enum class Reach : std::uint8_t { Within, Across };
  [[nodiscard]] int channel_links() const { return nchannels_ * (graph_ ? 1 : 2); }  ///< per rank
  [[nodiscard]] BytesPerSecond channel_rate(int id) const;
  void append_channel(Rank from, int channel, Reach reach, SimRoute& route) const;
  [[nodiscard]] FabricPort port(const Place& at, int net) const;
  /// returns  true if there is a route
  bool append_tree(const SwitchGroup& group, int channel, SimRoute& route) const;
  bool append_fabric(const Place& from, int out, const Place& to, int in, std::uint64_t flow,
                     SimRoute& route) const;

  const Job& job_;
  std::optional<GraphId> graph_;
  TopologyParameters parameters_;
  std::vector<Place> places_;    ///< by rank
  std::vector<int> first_link_;  ///< id of each node's first link
  /// First of the ids for links whose two directions share one rate (bridges). The offset from it
  /// is the lower of the two directions' link ids.
  int first_bridge_ = 0;
  SimModel model_;  ///< rates within hosts; default: those of the description
  JobFabric fabric_;
  /// Number of channels that limit their GPUs; 0: none.
  int nchannels_ = 0;
  std::array<BytesPerSecond, 2> channel_rates_{};  ///< rate of one channel, by Reach
  int first_channel_link_ = 0;                     ///< ids follow in the order of rank and channel
  int first_fabric_link_ = 0;
  std::vector<std::vector<int>> nic_numbers_;  ///< by system
  mutable std::mutex mutex_;                   ///< guards what follows
  mutable std::string unjoined_;
};

}  // namespace ringside

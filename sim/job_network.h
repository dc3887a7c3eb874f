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

/// The places of a job's hosts in a fabric.
struct JobFabric {
  const Fabric* fabric = nullptr;     ///< outlives the network
  std::vector<int> first_hosts = {};  ///< by node: its host, or the first of its NVLink domain's
};

/// The key by which static routing distinguishes flows: the ranks of a pair, and the channel. Keys of two flows are unrelated.
std::uint64_t flow_key(Rank from, Rank to, int channel);

/// The links of a job's nodes, joined by a fabric: its links come between the wires of two NICs. Without a fabric,
/// there is no contention between the wires.
///
/// Two ranks of a node   the links of System::path, but for those within a device (Loc)
/// of different nodes    GPU to NIC, the NIC's wire, the other NIC's wire, NIC to GPU. The NIC is the
///                       graph's for the channel; without a graph the one with the peer's number (PXN)
///                       to send by, and the own one to receive by
///                       Each pair of ranks on a channel is one flow of the fabric's
/// network that reduces  what a tree of the fabric's ways has: all messages of a channel by one root
/// NVSwitch              a GPU's links to and from the switch's vertex
/// few channels          where they carry less together than a GPU's widest link, what a GPU sends on one is a link, too;
///                       so are an exchange's, to other nodes
/// A node whose ranks NCCL treats as separate hosts (path type Net) uses its NICs within, too.
///
/// source     NCCL 2.30.7 graph/search.cc: ncclTopoGetNetDev
/// Ownership  the job outlives the object
class JobNetwork : public SimNetwork {
 public:
  /// graph  of the algorithm; none: point-to-point
  /// model  the rates that hardware achieves; null: the rates of the description. Read here alone
  /// fabric  none: an ideal one
  /// nchannels  of the call; 0: as many as it takes
  JobNetwork(const Job& job, std::optional<GraphId> graph, const TopologyParameters& parameters,
             const SimModel* model = nullptr, JobFabric fabric = {}, int nchannels = 0);

  [[nodiscard]] int nranks() const override { return job_.nranks(); }
  [[nodiscard]] SimRoute route(Rank from, Rank to, int channel) const override;
  [[nodiscard]] SimRoute group_route(const SwitchGroup& group, int channel) const override;
  [[nodiscard]] SimLink link(int id) const override;
  [[nodiscard]] BytesPerSecond rate(int id) const override;
  [[nodiscard]] int first_fabric_link() const override;

  /// Whether another GPU of the sender's node passes the message to its NIC (PXN).
  /// shape  two different ranks
  [[nodiscard]] bool is_relayed(Rank from, Rank to, int channel) const;

  /// The first two NICs that a route was asked for, and that the fabric does not join; empty: none yet.
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
  /// What a GPU sends on a channel: of an exchange, within a node one rate holds and across nodes another.
  enum class Reach : std::uint8_t { Within, Across };
  [[nodiscard]] int channel_links() const { return nchannels_ * (graph_ ? 1 : 2); }  ///< of a rank
  [[nodiscard]] BytesPerSecond channel_rate(int id) const;
  void append_channel(Rank from, int channel, Reach reach, SimRoute& route) const;
  [[nodiscard]] FabricPort port(const Place& at, int net) const;
  /// returns  whether there is a way
  bool append_tree(const SwitchGroup& group, int channel, SimRoute& route) const;
  bool append_fabric(const Place& from, int out, const Place& to, int in, std::uint64_t flow,
                     SimRoute& route) const;

  const Job& job_;
  std::optional<GraphId> graph_;
  TopologyParameters parameters_;
  std::vector<Place> places_;    ///< by rank
  std::vector<int> first_link_;  ///< id of each node's first link
  int first_bridge_ =
      0;            ///< id of what both directions of such a link share, by the lower one's id
  SimModel model_;  ///< of rates within hosts; as made: as the description says
  JobFabric fabric_;
  int nchannels_ = 0;                              ///< that hold their GPUs up; 0: none does
  std::array<BytesPerSecond, 2> channel_rates_{};  ///< of each, by Reach
  int first_channel_link_ = 0;                     ///< then by rank and channel
  int first_fabric_link_ = 0;
  std::vector<std::vector<int>> nic_numbers_;  ///< by system
  mutable std::mutex mutex_;                   ///< guards what follows
  mutable std::string unjoined_;
};

}  // namespace ringside

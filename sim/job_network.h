#pragma once

#include <optional>

#include "engine/channels/job.h"
#include "engine/topology/parameters.h"
#include "sim/model.h"
#include "sim/network.h"

namespace ringside {

/// The links of a job's nodes, joined by a fabric that holds nobody up.
///
/// Two ranks of a node   the links of System::path, but for those within a device (Loc)
/// of different nodes    GPU to NIC, the NIC's wire, the other NIC's wire, NIC to GPU. The NIC is the
///                       graph's for the channel; without a graph the one beside the peer's number (PXN)
///                       to send by, and the own one to receive by
/// NVSwitch              a GPU's links to and from the switch's vertex
/// A node whose ranks are told apart by NCCL (path type Net) uses its NICs within, too.
///
/// source     NCCL 2.30.7 graph/search.cc: ncclTopoGetNetDev
/// Ownership  the job outlives the object
class JobNetwork : public SimNetwork {
 public:
  /// graph  of the algorithm; none: point-to-point
  /// model  what the hardware gives; null: what the description says. Read here alone
  JobNetwork(const Job& job, std::optional<GraphId> graph, const TopologyParameters& parameters,
             const SimModel* model = nullptr);

  [[nodiscard]] int nranks() const override { return job_.nranks(); }
  [[nodiscard]] SimRoute route(Rank from, Rank to, int channel) const override;
  [[nodiscard]] SimRoute group_route(const SwitchGroup& group, int channel) const override;
  [[nodiscard]] SimLink link(int id) const override;
  [[nodiscard]] BytesPerSecond rate(int id) const override;

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

  const Job& job_;
  std::optional<GraphId> graph_;
  TopologyParameters parameters_;
  std::vector<Place> places_;    ///< by rank
  std::vector<int> first_link_;  ///< id of each node's first link
  double host_bridge_ = 1;       ///< share of a way up to a CPU, between GPUs
};

}  // namespace ringside

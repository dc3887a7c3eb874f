#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/topology/sources/load_hosts.h"
#include "sim/job_network.h"
#include "sim/simulate.h"
#include "sim/tuned.h"

/// Jobs and links for the simulator's tests.
namespace ringside {

inline constexpr Seconds kAlpha{5e-6};
inline constexpr BytesPerSecond kRate{50e9};

/// Ranks around one switch, each with one link out (id 2 x rank) and one in (2 x rank + 1). Connections between nodes
/// differ only in their latency, unless `between` gives them links of their own.
struct IdealNetwork : SimNetwork {
  int ranks = 0;
  int ranks_per_node = 0;  ///< 0: all ranks are on one node
  BytesPerSecond rate = kRate;
  BytesPerSecond between{};  ///< of a NIC for each rank; 0: as within a node, over the same links

  [[nodiscard]] int nranks() const override { return ranks; }
  [[nodiscard]] SimRoute route(Rank from, Rank to, int /*channel*/) const override {
    const int a = to_int(from);
    const int b = to_int(to);
    const bool is_far = ranks_per_node > 0 && a / ranks_per_node != b / ranks_per_node;
    const int first = is_far && between.value > 0 ? 2 * ranks : 0;
    return {.links = {first + 2 * a, first + 2 * b + 1},
            .slowest = is_far ? StepLink::Net : StepLink::NvLink};
  }
  [[nodiscard]] SimRoute group_route(const SwitchGroup& group, int /*channel*/) const override {
    SimRoute route;
    for (const Rank sender : group.senders) route.links.push_back(2 * to_int(sender));
    for (const Rank receiver : group.receivers) route.links.push_back(2 * to_int(receiver) + 1);
    return route;
  }
  [[nodiscard]] SimLink link(int id) const override {
    return {.rate = id < 2 * ranks ? rate : between, .name = "link"};
  }
};

/// A request and the objects that it refers to.
struct Case {
  std::shared_ptr<const Job> job = {};
  std::shared_ptr<SimNetwork> network;
  SimRequest request;
  Prediction prediction = {};
};

inline IdealNetwork& ideal(Case& one) { return dynamic_cast<IdealNetwork&>(*one.network); }

/// Returns a case with one channel, in which each step costs kAlpha plus its bytes at kRate, and the launch costs
/// nothing.
inline Case ideal_case(int ranks, Collective collective, std::int64_t count,
                       int ranks_per_node = 0) {
  Case one;
  auto network = std::make_shared<IdealNetwork>();
  network->ranks = ranks;
  network->ranks_per_node = ranks_per_node;
  one.network = network;
  one.request = {
      .network = one.network.get(),
      .channels = host_channels(ranks, 1, ranks_per_node),
      .choice = {.collective = collective,
                 .nchannels = 1,
                 .slot = 512_KiB,
                 .slots_per_chunk = 4,
                 .chunk = 2_MiB},
      .call = {.count = count},
      .costs = {.step = {kAlpha, kAlpha, kAlpha}, .nvswitch = kAlpha, .network_reduction = kAlpha}};
  return one;
}

inline Environment environment_of(std::vector<std::pair<std::string, std::string>> set) {
  return Environment{[set = std::move(set)](const char* name) -> std::optional<std::string> {
    for (const auto& [known, value] : set) {
      if (known == name) return value;
    }
    return std::nullopt;
  }};
}

/// Returns what NCCL would do on a preset with these variables.
///
/// shape  bytes of the larger of one rank's buffers, floats
inline Result<Case> job_case(const std::string& on, int nodes, Collective collective, Bytes bytes,
                             std::vector<std::pair<std::string, std::string>> set = {}) {
  const Environment environment = environment_of(std::move(set));
  RINGSIDE_TRY(const TopologyParameters topology, parse_topology_parameters(environment));
  RINGSIDE_TRY(const ChannelParameters channels, parse_channel_parameters(environment));
  RINGSIDE_TRY(const TuningParameters tuning, parse_tuning_parameters(environment));
  RINGSIDE_TRY(const JobHosts hosts, load_hosts(on, nodes, std::nullopt));
  RINGSIDE_TRY(Job found, make_job(hosts, topology, channels));
  Case one;
  one.job = std::make_shared<const Job>(std::move(found));
  RINGSIDE_TRY(const SimModel model, load_sim_model());
  RINGSIDE_TRY(const Tuner tuner, Tuner::make(one.job->connection.shape, tuning));
  RINGSIDE_TRY(const SimTuned tuned, tune(tuner, model, likely_surroundings(*one.job),
                                          {.collective = collective, .bytes = bytes}));
  const Bytes one_each = call_bytes(collective, {.count = 1}, one.job->nranks());
  one.network = std::make_shared<JobNetwork>(*one.job, tuned.graph, topology);
  one.prediction = tuned.prediction.value_or(Prediction{});
  one.request = {.network = one.network.get(),
                 .channels = channels_of(*one.job),
                 .choice = tuned.choice,
                 .call = {.count = static_cast<std::int64_t>(bytes.value / one_each.value)},
                 .costs = tuned.costs,
                 .overheads = tuned.overheads};
  return one;
}

inline Result<Case> forced_case(const std::string& on, int nodes, Collective collective,
                                Bytes bytes, Algorithm algorithm, Protocol protocol) {
  return job_case(on, nodes, collective, bytes,
                  {{"NCCL_ALGO", nccl_name(algorithm)}, {"NCCL_PROTO", nccl_name(protocol)}});
}

}  // namespace ringside

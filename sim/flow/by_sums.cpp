#include "sim/flow/by_sums.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/collectives/plan.h"
#include "engine/collectives/record.h"
#include "sim/event/wiring.h"
#include "sim/flow/on_cores.h"
#include "sim/outcome.h"

namespace ringside {
namespace {

// Transfers over links that only the ranks of one host share.
constexpr std::int64_t kMostAlone = 1 << 17;
constexpr std::int64_t kMostOnFabric = 1 << 12;  // transfers over the fabric
// Ranks are summed in such blocks, and the blocks in order, so that results are reproducible.
constexpr int kBlocks = 32;

/// Sums over the sends of some ranks.
struct ExchangeSums {
  std::vector<double> links = {};  ///< bytes on the wire, [link]
  /// s, [rank and channel]: time to receive all messages one after the other
  std::vector<double> chains = {};
  double longest = 0;  ///< s, longest time of a rank's sends on one channel
  double latency = 0;
  std::int64_t steps = 0, transfers = 0;
};

class ExchangeSummer {
 public:
  ExchangeSummer(const SimRequest& request, const TaskPlanner& planner)
      : request_(request),
        network_(*request.network),
        planner_(planner),
        element_(static_cast<double>(size_of(request.call.type).value) *
                 wire_factor(request.choice.protocol)) {}

  /// Adds ranks [first, last).
  Status add(int first, int last, ExchangeSums& sums) const {
    sums.chains.resize(static_cast<std::size_t>(planner_.nranks()) * nchannels());
    for (int rank = first; rank < last; ++rank) {
      RINGSIDE_TRY(const std::vector<ChannelTask> tasks, planner_.tasks(Rank{rank}));
      for (std::size_t channel = 0; channel < tasks.size(); ++channel) {
        RINGSIDE_TRY(add(Rank{rank}, static_cast<int>(channel), tasks[channel], sums));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::size_t nchannels() const {
    return static_cast<std::size_t>(request_.choice.nchannels);
  }

  Status add(Rank rank, int channel, const ChannelTask& task, ExchangeSums& sums) const {
    const Program program = record(task);
    sums.steps += count_steps(program);
    std::vector<std::int64_t> counts(task.send_peers.size());
    for (std::int64_t loop = 0; loop < program.loops; ++loop) {
      for (const StepRun& run : program.steps) {
        if (run.turn != task.turn_of(loop)) continue;
        for_each_step(program, run, [&](const Step& step) {
          const std::int64_t count = task.map.at(loop, step.chunk).count;
          for_each_port(step.to, [&](int port) {
            counts[static_cast<std::size_t>(port)] += count;
            sums.transfers += count > 0 ? 1 : 0;
          });
        });
      }
    }
    double chain = 0;
    for (std::size_t port = 0; port < counts.size(); ++port) {
      if (counts[port] == 0) continue;
      const Rank to = task.send_peers[port].rank;
      const SimRoute route = network_.route(rank, to, channel);
      if (route.links.empty()) return no_route_between(rank, to);
      const double bytes = static_cast<double>(counts[port]) * element_ /
                           request_.costs.share[static_cast<std::size_t>(route.slowest)];
      double narrowest = std::numeric_limits<double>::infinity();
      for (const int link : route.links) {
        const auto at = static_cast<std::size_t>(link);
        if (at >= sums.links.size()) sums.links.resize(at + 1);
        sums.links[at] += bytes;
        narrowest = std::min(narrowest, network_.rate(link).value);
      }
      chain += bytes / narrowest;
      sums.chains[static_cast<std::size_t>(to_int(to)) * nchannels() +
                  static_cast<std::size_t>(channel)] += bytes / narrowest;
      sums.latency = std::max(sums.latency, latency_of(request_, route));
    }
    sums.longest = std::max(sums.longest, chain);
    return {};
  }

  const SimRequest& request_;
  const SimNetwork& network_;
  const TaskPlanner& planner_;
  const double element_;  ///< bytes on the wire per element
};

void add_to(std::vector<double>& all, const std::vector<double>& more) {
  if (all.size() < more.size()) all.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) all[i] += more[i];
}

}  // namespace

Result<bool> is_large_exchange(const SimRequest& request) {
  RINGSIDE_TRY(const TaskPlanner planner,
               TaskPlanner::make(request.choice, request.channels, request.call));
  const Collective collective = request.choice.collective;
  // In gather and scatter, only the root has many transfers.
  const bool is_of_root = collective == Collective::Gather || collective == Collective::Scatter;
  RINGSIDE_TRY(const std::vector<ChannelTask> tasks,
               planner.tasks(is_of_root ? request.call.root : Rank{0}));
  std::int64_t transfers = 0;
  for (const ChannelTask& task : tasks) transfers += std::ssize(task.rounds) * task.loops();
  if (!is_of_root) transfers *= planner.nranks();
  return transfers > (request.network->has_fabric() ? kMostOnFabric : kMostAlone);
}

Result<SimResult> sum_exchange(const SimRequest& request,
                               const std::function<void(double)>& on_progress) {
  RINGSIDE_TRY(const TaskPlanner planner,
               TaskPlanner::make(request.choice, request.channels, request.call));
  const ExchangeSummer summer(request, planner);
  const int nranks = planner.nranks();
  std::vector<ExchangeSums> blocks(kBlocks);
  RINGSIDE_TRY(for_each_on_cores(
      kBlocks,
      [&](int block) {
        return summer.add(static_cast<int>(std::int64_t{nranks} * block / kBlocks),
                          static_cast<int>(std::int64_t{nranks} * (block + 1) / kBlocks),
                          blocks[static_cast<std::size_t>(block)]);
      },
      [&](std::size_t block) { on_progress(static_cast<double>(block) / kBlocks); }));
  SimResult result{};
  ExchangeSums all;
  for (const ExchangeSums& one : blocks) {
    add_to(all.links, one.links);
    add_to(all.chains, one.chains);
    all.longest = std::max(all.longest, one.longest);
    all.latency = std::max(all.latency, one.latency);
    result.steps += one.steps;
    result.transfers += one.transfers;
  }
  BusiestLink busiest(*request.network);
  for (std::size_t link = 0; link < all.links.size(); ++link) {
    if (all.links[link] == 0) continue;
    const int id = static_cast<int>(link);
    busiest.note(id, Seconds{all.links[link] / request.network->rate(id).value});
    if (request.wants_loads) result.loads.links.push_back({.link = id, .bytes = all.links[link]});
  }
  busiest.write_to(result);
  for (const double chain : all.chains) all.longest = std::max(all.longest, chain);
  result.time = std::max(result.busiest, Seconds{all.longest}) + Seconds{all.latency};
  return result;
}

}  // namespace ringside

#include <gtest/gtest.h>

#include <map>

#include "engine/collectives/record.h"
#include "tests/sim/requests.h"

namespace ringside {
namespace {

/// Returns the bytes on each link, from the recorded programs alone: every message crosses the links of its route.
std::map<int, double> bytes_by_link(const SimRequest& request) {
  std::map<int, double> bytes;
  const double wire = 4 * wire_factor(request.choice.protocol);
  for (int rank = 0; rank < request.network->nranks(); ++rank) {
    const auto tasks = *plan_channels(request.choice, request.channels, request.call, Rank{rank});
    for (std::size_t channel = 0; channel < tasks.size(); ++channel) {
      const ChannelTask& task = tasks[channel];
      std::vector<double> by_port(task.send_peers.size());
      const Program program = record(task);
      for (std::int64_t loop = 0; loop < program.loops; ++loop) {
        for (const StepRun& run : program.steps) {
          if (run.turn != loop % program.turns || !parts_of(run.primitive).sends) continue;
          for_each_step(program, run, [&](const Step& step) {
            const auto count = static_cast<double>(task.map.at(loop, step.chunk).count);
            for_each_port(step.to, [&](int port) {
              by_port[static_cast<std::size_t>(port)] += count * wire;
            });
          });
        }
      }
      for (std::size_t port = 0; port < by_port.size(); ++port) {
        const Peer& peer = task.send_peers[port];
        if (by_port[port] == 0) continue;
        const auto index = static_cast<int>(channel);
        SimRoute route;
        double sum = by_port[port];
        if (peer.group == nullptr) {
          route = request.network->route(Rank{rank}, peer.rank, index);
          sum /= request.costs.share[static_cast<std::size_t>(route.slowest)];
        } else if (peer.group->senders.front() == Rank{rank}) {  // all parts are one message
          route = request.network->group_route(*peer.group, index);
          if (peer.group->medium == SwitchGroup::Medium::NvSwitch) {
            sum /= request.costs.nvswitch_efficiency;
          }
        }
        for (const int link : route.links) bytes[link] += sum;
      }
    }
  }
  return bytes;
}

double busiest_seconds(const SimRequest& request) {
  double most = 0;
  for (const auto& [link, sum] : bytes_by_link(request)) {
    most = std::max(most, sum / request.network->link(link).rate.value);
  }
  return most;
}

struct Hosts {
  const char* on;
  int nodes;
};

class Bounds : public testing::TestWithParam<Hosts> {};

// The busiest link must carry its bytes, whatever the order of steps.
TEST_P(Bounds, NoCollectiveIsFasterThanItsBusiestLink) {
  int runs = 0;
  for (int c = 0; c < kTunedCollectives; ++c) {
    for (int a = 0; a < kAlgorithms; ++a) {
      for (int p = 0; p < kProtocols; ++p) {
        const auto collective = static_cast<Collective>(c);
        const auto algorithm = static_cast<Algorithm>(a);
        const auto protocol = static_cast<Protocol>(p);
        const bool has_lines = algorithm == Algorithm::Ring || algorithm == Algorithm::Tree;
        if (!has_algorithm(collective, algorithm)) continue;
        if (protocol != Protocol::Simple && !has_lines) continue;
        const auto one =
            forced_case(GetParam().on, GetParam().nodes, collective, 4_MiB, algorithm, protocol);
        if (!one) continue;  // NCCL does not have this combination there
        if (!plan_channels(one->request.choice, one->request.channels, one->request.call,
                           Rank{0})) {
          continue;
        }
        const auto result = simulate(one->request);
        ASSERT_TRUE(result) << result.error().message;
        const double bound = busiest_seconds(one->request);
        EXPECT_NEAR(result->busiest.count(), bound, bound * 1e-6);
        const double least = one->request.costs.launch.count() + bound;
        EXPECT_GE(result->time.count(), least * (1 - 1e-5))
            << to_string(collective) << " by " << to_string(algorithm) << "/"
            << to_string(protocol);
        EXPECT_GT(bound, 0);
        ++runs;
      }
    }
  }
  EXPECT_GE(runs, 5);
}

INSTANTIATE_TEST_SUITE_P(Presets, Bounds,
                         testing::Values(Hosts{"dgx-h100", 1}, Hosts{"dgx-h100", 2},
                                         Hosts{"2x-l4", 2}, Hosts{"4x-a10", 1},
                                         Hosts{"one-gpu-one-nic", 4},
                                         Hosts{"dgx-h100:1,dgx-a100:1", 2}));

}  // namespace
}  // namespace ringside

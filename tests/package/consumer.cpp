// Proves ring all-reduce over 4 ranks and simulates it, with what the installed package offers and nothing else.
#include <cstdio>
#include <vector>

#include "engine/collectives/plan.h"
#include "engine/collectives/prove.h"
#include "sim/simulate.h"

namespace {

using namespace ringside;

/// Ranks around one switch, each with a link out and one in.
struct Star : SimNetwork {
  [[nodiscard]] int nranks() const override { return 4; }
  [[nodiscard]] SimRoute route(Rank from, Rank to, int /*channel*/) const override {
    return {.links = {2 * to_int(from), 2 * to_int(to) + 1}};
  }
  [[nodiscard]] SimRoute group_route(const SwitchGroup& /*group*/, int /*channel*/) const override {
    return {};
  }
  [[nodiscard]] SimLink link(int /*id*/) const override {
    return {.rate = BytesPerSecond{50e9}, .name = "link"};
  }
};

}  // namespace

int main() {
  constexpr int kRanks = 4;
  const Channels channels = host_channels(kRanks, 1);
  const Choice choice{.slot = 1_KiB, .slots_per_chunk = 1, .chunk = 1_KiB};
  const CallShape call{.count = 1024};
  std::vector<ChannelTask> tasks;
  for (int rank = 0; rank < kRanks; ++rank) {
    auto planned = plan_channels(choice, channels, call, Rank{rank});
    if (!planned) {
      std::printf("not planned: %s\n", planned.error().message.c_str());
      return 1;
    }
    tasks.push_back((*planned)[0]);
  }
  const auto proof = prove(tasks);
  if (!proof) {
    std::printf("not proved: %s\n", proof.error().message.c_str());
    return 1;
  }
  // Each rank sends 2 * (4 - 1) chunks of 1024 / 4 elements to the next one.
  for (const EdgeTraffic& edge : proof->edges) {
    if (edge.elements != 2 * (kRanks - 1) * 1024 / kRanks) return 1;
  }
  std::puts("ring all-reduce over 4 ranks: proved");

  const Star network;
  const auto result = simulate(
      {.network = &network, .channels = channels, .choice = choice, .call = call, .costs = {}});
  if (!result) {
    std::printf("not simulated: %s\n", result.error().message.c_str());
    return 1;
  }
  std::printf("simulated: %.3f us\n", result->time.count() * 1e6);
  return 0;
}

// Proves ring all-reduce over 4 ranks, with what the installed package offers and nothing else.
#include <cstdio>
#include <vector>

#include "engine/collectives/plan.h"
#include "engine/collectives/prove.h"

int main() {
  using namespace ringside;
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
  return 0;
}

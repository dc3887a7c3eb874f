// Proves ring all-reduce over 4 ranks, with what the installed package offers and nothing else.
#include <cstdio>
#include <vector>

#include "engine/collectives/prove.h"

int main() {
  using namespace ringside;
  constexpr int kRanks = 4;
  std::vector<Rank> order;
  for (int rank = 0; rank < kRanks; ++rank) order.push_back(Rank{rank});

  std::vector<Program> programs;
  for (int position = 0; position < kRanks; ++position) {
    programs.push_back(record({.collective = Collective::AllReduce,
                               .algorithm = Algorithm::Ring,
                               .ring = {position, kRanks},
                               .root = 0,
                               .map = ChunkMap({.collective = Collective::AllReduce,
                                                .order = order,
                                                .count = 1024,
                                                .part = {0, 1024},
                                                .chunk = 256,
                                                .grain = 4})}));
  }
  const auto proof = prove_ring(Collective::AllReduce, programs, 0, 2, 1);
  if (!proof) {
    std::printf("not proved: %s\n", proof.error().message.c_str());
    return 1;
  }
  // Each rank sends 2 * (4 - 1) = 6 chunks to the next one.
  for (const auto chunks : proof->chunks_sent) {
    if (chunks != 2 * (kRanks - 1)) return 1;
  }
  std::puts("ring all-reduce over 4 ranks: proved");
  return 0;
}

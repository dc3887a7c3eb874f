// Two ranks, a thread each, add up their data.
#include <ringside/communicator.h>

#include <algorithm>
#include <cstdio>
#include <future>
#include <vector>

int main() {
  const auto id = ringside::CommunicatorId::make();
  if (!id) return std::puts(id.error().message.c_str()), 3;
  const auto run_rank = [&](int rank) {
    auto ranks = ringside::Communicator::join(*id, 2, rank);
    if (!ranks) return std::puts(ranks.error().message.c_str()), 3;
    std::vector<float> data(1024, rank == 0 ? 1.0F : 2.0F);
    auto done = ranks->all_reduce(data);
    if (done) done = ranks->finish();
    if (!done) return std::puts(done.error().message.c_str()), 3;
    return std::printf("rank %d: %g\n", rank, data[0]), 0;
  };
  auto other = std::async(std::launch::async, run_rank, 1);
  const int mine = run_rank(0);
  return std::max(mine, other.get());
}

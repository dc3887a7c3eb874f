// Two ranks, a thread each, add up their data.
#include <ringside/communicator.h>

#include <cstdio>
#include <thread>
#include <vector>

int main() {
  const auto id = ringside::CommunicatorId::make();
  if (!id) return std::puts(id.error().message.c_str()), 3;
  const auto run_rank = [&](int rank) {
    auto ranks = ringside::Communicator::join(*id, 2, rank);
    std::vector<float> data(1024, rank == 0 ? 1.0F : 2.0F);
    if (ranks && ranks->all_reduce(data) && ranks->finish())
      std::printf("rank %d: %g\n", rank, data[0]);
  };
  const std::jthread other(run_rank, 1);
  run_rank(0);
}

// Measures the limit of the memory system: every core copies 256 MiB past the caches at once, which is the least that
// a large all-reduce must read and write. Prints GB/s copied per core, the median of 9 rounds.

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "engine/reduce/copy.h"

int main(int argc, char** argv) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr int kRounds = 9;
  using Clock = std::chrono::steady_clock;
  const int cores =
      argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  if (cores < 1) {
    std::fprintf(stderr, "usage: ringside_peer_memory_copy [CORES]\n");
    return 2;
  }
  std::barrier together(cores);
  std::vector<double> seconds(kRounds);
  const auto copy = [&](int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    ::sched_setaffinity(0, sizeof set, &set);
    std::vector<std::byte> from(kBytes, std::byte{1});
    std::vector<std::byte> to(kBytes, std::byte{2});
    for (double& time : seconds) {
      together.arrive_and_wait();
      const auto begin = Clock::now();
      ringside::copy_streaming(to.data(), from.data(), kBytes);
      together.arrive_and_wait();
      if (core == 0) time = std::chrono::duration<double>(Clock::now() - begin).count();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int core = 0; core < cores; ++core) threads.emplace_back(copy, core);
  }
  std::sort(seconds.begin(), seconds.end());
  std::printf("%.2f\n", static_cast<double>(kBytes) / seconds[kRounds / 2] / 1e9);
  return 0;
}

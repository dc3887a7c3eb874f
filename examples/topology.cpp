// The first ring that NCCL builds on two DGX H100.
#include <ringside/topology.h>

#include <cstdio>

int main() {
  const auto job = ringside::load_topology({.on = "dgx-h100", .nodes = 2});
  if (!job) return std::puts(job.error().message.c_str()), 3;
  std::printf("%d ranks on %d nodes, %d channels; ring 0:", job->ranks, job->nodes, job->channels);
  for (const int rank : job->rings[0]) std::printf(" %d", rank);
  std::puts("");
}

// Measures Gloo's all-reduce of float sums over TCP on loopback, timed as `ringside bench` does: the slowest rank of
// each iteration, the median over the iterations; the faster of its two large algorithms. Rank 0 prints one line:
// bytes time_us algorithm.
//
//     ringside_peer_gloo RANK RANKS FOLDER BYTES ITERATIONS
//
// runs once per rank; FOLDER is empty and the same for all ranks.

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_all.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"

namespace {

using Clock = std::chrono::steady_clock;

/// returns  the median of the slowest rank's times, in us
double median_us(const std::shared_ptr<gloo::Context>& context, gloo::Algorithm& algorithm,
                 std::int64_t iterations) {
  constexpr int kWarmup = 5;
  for (int i = 0; i < kWarmup; ++i) algorithm.run();
  gloo::BarrierAllToAll(context).run();
  std::vector<double> times;
  for (std::int64_t i = 0; i < iterations; ++i) {
    const auto begin = Clock::now();
    algorithm.run();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  gloo::AllreduceRing<double>(context, {times.data()}, static_cast<int>(times.size()),
                              gloo::ReductionFunction<double>::max)
      .run();
  std::sort(times.begin(), times.end());
  return times[(times.size() - 1) / 2];
}

int run(int rank, int ranks, const char* folder, std::uint64_t bytes, std::int64_t iterations) {
  gloo::transport::tcp::attr where;
  where.iface = "lo";
  auto device = gloo::transport::tcp::CreateDevice(where);
  gloo::rendezvous::FileStore store(folder);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);

  std::vector<float> data(bytes / sizeof(float), 1.0F);
  const int count = static_cast<int>(data.size());
  gloo::AllreduceHalvingDoubling<float> halving(context, {data.data()}, count);
  gloo::AllreduceRingChunked<float> ring(context, {data.data()}, count);
  const double halving_us = median_us(context, halving, iterations);
  const double ring_us = median_us(context, ring, iterations);
  if (rank == 0) {
    std::printf("%llu %.2f %s\n", static_cast<unsigned long long>(bytes),
                std::min(halving_us, ring_us),
                halving_us < ring_us ? "halving_doubling" : "ring_chunked");
  }
  // The rank that leaves first breaks the others' connections.
  std::vector<std::string> done;
  for (int other = 0; other < ranks; ++other) done.push_back("done" + std::to_string(other));
  store.set(done[static_cast<std::size_t>(rank)], {'1'});
  store.wait(done);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using ringside::parse_int;
  const auto rank = parse_int(argc > 1 ? argv[1] : "");
  const auto ranks = parse_int(argc > 2 ? argv[2] : "");
  const auto bytes = ringside::parse_bytes(argc > 4 ? argv[4] : "");
  const auto iterations = parse_int(argc > 5 ? argv[5] : "");
  if (!rank || !ranks || !bytes || !iterations || *iterations < 1) {
    std::fprintf(stderr, "usage: ringside_peer_gloo RANK RANKS FOLDER BYTES ITERATIONS\n");
    return 2;
  }
  try {
    return run(static_cast<int>(*rank), static_cast<int>(*ranks), argv[3], bytes->value,
               *iterations);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: gloo: %s\n", error.what());
    return 3;
  }
}

// Measures MPI_Allreduce of float sums, timed as `ringside bench` does: the slowest rank of each iteration, the median
// over the iterations. Prints one line per size: bytes time_us busbw_gbs.
//
//     mpirun -np 2 ringside_peer_mpi 8 64M 2 [iterations]

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/text.h"
#include "base/vocabulary.h"

int main(int argc, char** argv) {
  using namespace ringside;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto from = parse_bytes(argc > 1 ? argv[1] : "8");
  const auto to = parse_bytes(argc > 2 ? argv[2] : "64M");
  const auto factor = parse_int(argc > 3 ? argv[3] : "2");
  const auto iterations = parse_int(argc > 4 ? argv[4] : "20");
  if (!from || !to || !factor || !iterations || *iterations < 1 || *factor < 2) {
    if (rank == 0) std::fprintf(stderr, "usage: ringside_peer_mpi FROM TO FACTOR [ITERATIONS]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const auto sizes = size_range(*from, *to, static_cast<std::uint64_t>(*factor));
  if (!sizes) MPI_Abort(MPI_COMM_WORLD, 2);
  const std::size_t most = to->value / sizeof(float);
  // Allocates the memory that the library itself recommends to its users.
  const auto allocate = [&](float value) {
    float* memory = nullptr;
    if (MPI_Alloc_mem(static_cast<MPI_Aint>(most * sizeof(float)), MPI_INFO_NULL, &memory) != 0) {
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    std::fill_n(memory, most, value);
    return memory;
  };
  float* input = allocate(1.0F);
  float* output = allocate(0.0F);
  constexpr int kWarmup = 5;
  for (const Bytes size : *sizes) {
    const int count = static_cast<int>(size.value / sizeof(float));
    std::vector<double> times(static_cast<std::size_t>(*iterations));
    for (int i = -kWarmup; i < *iterations; ++i) {
      if (i == 0) MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      MPI_Allreduce(input, output, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      if (i >= 0) times[static_cast<std::size_t>(i)] = MPI_Wtime() - begin;
    }
    MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    std::sort(times.begin(), times.end());
    const Seconds median{times[(times.size() - 1) / 2]};
    if (rank == 0) {
      std::printf("%llu %.2f %.3f\n", static_cast<unsigned long long>(size.value), in_us(median),
                  in_gbs(size / median * busbw_factor(Collective::AllReduce, ranks)));
    }
  }
  MPI_Free_mem(input);
  MPI_Free_mem(output);
  MPI_Finalize();
  return 0;
}

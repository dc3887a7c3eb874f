#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::job {

/// The largest accepted number of ranks, above any real job. Larger numbers are ignored.
inline constexpr int kMostRanks = 1 << 20;

/// Collects the least number of ranks of a job from lines that state the size of a communicator, a process group, a
/// rendezvous or a trainer. The ranks with log lines do not count.
class WorldSize {
 public:
  /// Takes a line that may state a size.
  void take(const logs::Record& record);

  /// Takes a number from another source, such as a report or the sizes of a call. Implausible numbers are ignored.
  void know(std::int64_t ranks);

  /// Returns the largest size so far; 0 if none is known.
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  int ranks_ = 0;
};

/// Returns the number of processes that a launcher's command starts, `mpirun -np 3 ./halo` or `torchrun
/// --nproc_per_node=8` on one host; 0 if unknown. Each task of srun or MPI may start torchrun: the numbers are multiplied.
/// Options after the program belong to the program.
int world_of_command(std::string_view text);

/// Returns the number of ranks in a program's line, `world_size=8`, `MEMBER: 1/8` or `nranks 8`; 0 if there is none.
int world_in(std::string_view text);

}  // namespace ringside::job

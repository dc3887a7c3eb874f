#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::job {

/// Larger than any job; larger numbers are ignored.
inline constexpr int kMostRanks = 1 << 20;

/// The least number of ranks of a job, by lines that state a number: of a communicator, of a process group, of a
/// rendezvous, of a trainer's settings. Which ranks have logged is no evidence for it.
class WorldSize {
 public:
  /// Takes a line of the stack that may state it.
  void take(const logs::Record& record);

  /// Takes a number from another source, such as a report or the sizes of a call. Implausible numbers are ignored.
  void know(std::int64_t ranks);

  /// 0: unknown
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  int ranks_ = 0;
};

/// The number of processes that a launcher's command starts: `mpirun -np 3 ./halo`, `torchrun --nproc_per_node=8` on
/// one host.
/// returns  0: unknown
int world_of_command(std::string_view text);

/// The number of ranks of the job in a program's own line: `world_size=8`, `MEMBER: 1/8`, `nranks 8`.
/// returns  0: none
int world_in(std::string_view text);

}  // namespace ringside::job

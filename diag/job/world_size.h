#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::job {

/// Far beyond any job; what says more is not believed.
inline constexpr int kMostRanks = 1 << 20;

/// How many ranks a job has at least, where a line says how many there are: of a communicator, of a process group, of a
/// rendezvous, of a trainer's settings. Who happened to speak says nothing of it.
class WorldSize {
 public:
  /// A line of the stack that may say it.
  void take(const logs::Record& record);

  /// What something else says, as a report or the sizes of a call. What no job has is passed over.
  void know(std::int64_t ranks);

  /// 0: no line says it
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  int ranks_ = 0;
};

/// How many processes a launcher's command starts: `mpirun -np 3 ./halo`, `torchrun --nproc_per_node=8` on one host.
/// returns  0: it does not say
int world_of_command(std::string_view text);

/// How many ranks the job has, where a program's own line says it: `world_size=8`, `MEMBER: 1/8`, `nranks 8`.
/// returns  0: it does not
int world_in(std::string_view text);

}  // namespace ringside::job

#pragma once

#include <cstdint>

#include "engine/debuglog/communicator_text.h"
#include "engine/debuglog/line.h"
#include "harness/logs/log_job.h"

namespace ringside {

/// One process in one communicator: the inputs of its lines.
///
/// Ownership  borrows the job
struct RankView {
  RankView(const LogJob& of_job, int of_process, int of_generation);

  [[nodiscard]] const LogHost& host() const { return job.host_of(process); }
  [[nodiscard]] NcclVersion version() const { return host().version; }
  [[nodiscard]] const CommunicatorLayout& layout() const { return *communicator->layout; }
  /// Whether the process is in a communicator of that generation at all.
  [[nodiscard]] bool is_member() const { return communicator != nullptr; }

  [[nodiscard]] LineThread main_thread() const;
  [[nodiscard]] LineThread init_thread() const;   ///< that makes the communicator
  [[nodiscard]] LineThread proxy_thread() const;  ///< that serves its network
  [[nodiscard]] CommFacts facts() const;

  /// The rank whose GPU the rank has: itself, except for one that took its neighbour's.
  [[nodiscard]] int gpu_owner() const;

  /// In [0, 1), the same whenever it is asked for.
  [[nodiscard]] double share(std::uint64_t what) const;

  const LogJob& job;
  int process;
  int generation;
  const LogCommunicator* communicator = nullptr;
  int rank = -1;  ///< in the communicator
};

/// Whether the connections wait for the first collective.
bool connects_late(const LogJob& job);

}  // namespace ringside

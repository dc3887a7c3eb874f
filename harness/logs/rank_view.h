#pragma once

#include <cstdint>

#include "engine/debuglog/communicator_text.h"
#include "engine/debuglog/line.h"
#include "harness/logs/log_job.h"

namespace ringside {

/// One process in one communicator: the inputs of its log lines.
///
/// Ownership  the job outlives it
struct RankView {
  RankView(const LogJob& of_job, int of_process, int of_generation);

  [[nodiscard]] const LogHost& host() const { return job.host_of(process); }
  [[nodiscard]] NcclVersion version() const { return host().version; }
  [[nodiscard]] const CommunicatorLayout& layout() const { return *communicator->layout; }
  /// Returns true if the process is in a communicator of that generation.
  [[nodiscard]] bool is_member() const { return communicator != nullptr; }

  [[nodiscard]] LineThread main_thread() const;
  [[nodiscard]] LineThread init_thread() const;   ///< thread that creates the communicator
  [[nodiscard]] LineThread proxy_thread() const;  ///< thread that serves the network
  [[nodiscard]] CommFacts facts() const;

  /// Returns the rank whose GPU this rank uses: itself, unless two ranks use one GPU.
  [[nodiscard]] int gpu_owner() const;

  /// Returns a pseudorandom number in [0, 1) that depends on the rank and `what`.
  [[nodiscard]] double share(std::uint64_t what) const;

  const LogJob& job;
  int process;
  int generation;
  const LogCommunicator* communicator = nullptr;
  int rank = -1;  ///< in the communicator
};

/// Returns true if connections are set up by the first collective.
bool connects_late(const LogJob& job);

}  // namespace ringside

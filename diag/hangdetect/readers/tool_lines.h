#pragma once

#include <cstdint>
#include <string_view>

namespace ringside::hang {

/// A row of `ps` whose command names the rank: `55304 Tl 1-03:22:10 do_signal_stop python train.py --local_rank=3`.
struct PsLine {
  char state = 0;  ///< first letter of STAT: R S D T t Z; 0: the line is not such a row
  int local_rank = -1;
  std::int64_t pid = -1;
};

/// Reads a row of `ps`.  source  ps(1), "PROCESS STATE CODES"
PsLine read_ps_line(std::string_view line);

/// Returns the utilisation in percent in a GPU's row of nvidia-smi, or -1 for another line. Example:
/// `| N/A   38C    P0    64W / 400W |  61090MiB / 81920MiB |      0%      Default |`.
int gpu_utilisation(std::string_view line);

/// A row of `kubectl get pods`: `ddp-train-2-p7dnc   0/1   Pending   0   27m`.
struct PodLine {
  int index = -1;           ///< index at the end of the pod's name; -1: the line is not such a row
  std::string_view status;  ///< `Pending`, `OOMKilled`
  std::string_view role;    ///< word before the index: `worker`
};
PodLine read_pod_line(std::string_view line);

}  // namespace ringside::hang

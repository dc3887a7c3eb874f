#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A process in the table of `ps`, of which its command tells the rank: `55304 Tl 1-03:22:10 do_signal_stop python
/// train.py --local_rank=3`.
struct PsLine {
  char state = 0;  ///< the first letter of STAT: R S D T t Z; 0: the line is none
  int local_rank = -1;
  std::int64_t pid = -1;
};

/// source  ps(1), "PROCESS STATE CODES"
PsLine read_ps_line(std::string_view line);

/// A GPU's row in nvidia-smi's table: `| N/A   38C    P0    64W / 400W |  61090MiB / 81920MiB |      0%      Default |`.
/// returns  its utilisation in percent; -1: the line is none
int gpu_utilisation(std::string_view line);

/// A row of `nvidia-smi --query-gpu=index,clocks.sm,..,clocks_event_reasons.hw_thermal_slowdown --format=csv`:
/// `4, 345 MHz, 88, Active, Not Active`.
struct ClockRow {
  int gpu = -1;  ///< -1: the line is none
  int mhz = 0;
  bool is_throttled = false;
};
ClockRow read_clock_row(std::string_view line);

/// A row of `kubectl get pods`: `ddp-train-2-p7dnc   0/1   Pending   0   27m`.
struct PodLine {
  int index = -1;           ///< of its job or set, as its name ends; -1: the line is none
  std::string_view status;  ///< `Pending`, `OOMKilled`
  std::string_view role;    ///< the word before its index: `worker`
};
PodLine read_pod_line(std::string_view line);

}  // namespace ringside::hang

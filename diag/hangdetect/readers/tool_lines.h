#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A process in the table of `ps` whose command names the rank: `55304 Tl 1-03:22:10 do_signal_stop python train.py
/// --local_rank=3`.
struct PsLine {
  char state = 0;  ///< the first letter of STAT: R S D T t Z; 0: the line is no such row
  int local_rank = -1;
  std::int64_t pid = -1;
};

/// source  ps(1), "PROCESS STATE CODES"
PsLine read_ps_line(std::string_view line);

/// A GPU's row in nvidia-smi's table: `| N/A   38C    P0    64W / 400W |  61090MiB / 81920MiB |      0%      Default |`.
/// returns  its utilisation in percent; -1: the line is no such row
int gpu_utilisation(std::string_view line);

/// A GPU's row in a table of clocks: from `nvidia-smi --query-gpu=index,clocks.sm,..,clocks_event_reasons.active
/// --format=csv`, from `dcgmi dmon`, or written by a person.
struct ClockRow {
  int gpu = -1;  ///< -1: the line is no such row
  int mhz = 0;
  bool is_held =
      false;  ///< a reason for a low clock is active, or the GPU is hot or its power limited
};

/// Reads such tables line by line: a header names the columns. Rows without a header that have `MHz` and `Active`
/// count too.
class ClockTable {
 public:
  ClockRow take(std::string_view line);

 private:
  enum class Column : std::uint8_t { Other, Gpu, Clock, Reason, Temperature, Limit };
  bool take_header(const std::vector<std::string_view>& cells);
  std::vector<Column> columns_;
  bool has_commas_ = false;
  double highest_limit_ = 0;  ///< of the rows so far, in W
};

/// A row of `kubectl get pods`: `ddp-train-2-p7dnc   0/1   Pending   0   27m`.
struct PodLine {
  int index = -1;           ///< of its job or set, as its name ends; -1: the line is no such row
  std::string_view status;  ///< `Pending`, `OOMKilled`
  std::string_view role;    ///< the word before its index: `worker`
};
PodLine read_pod_line(std::string_view line);

}  // namespace ringside::hang

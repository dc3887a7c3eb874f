#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// The times of one activity, by rank; the unit is the same for all.
struct RankTimer {
  std::string name;  ///< `forward-compute`
  std::map<int, double> times;
  std::int64_t line = 0;  ///< in the file, of its slowest rank or its row
};

/// Reads tables of times by rank:
///
///     | timer (ms)      | rank 42 | **rank 44** |         forward-compute:
///     |-----------------|---------|-------------|            rank  0: 1188.42
///     | forward-compute | 1188.42 | 5610.33     |            rank  1: 5610.33
///
/// and of lines of ranks, `[rank 3] step 12 fwd 1.02s, comm 8.84s`: of each activity the least time of a rank.
///
/// source  Megatron-LM megatron/core/timers.py, `--timing-log-option all`
class RankTimers {
 public:
  void take(std::string_view line, std::int64_t number);
  [[nodiscard]] const std::vector<RankTimer>& timers() const { return timers_; }

 private:
  bool take_row(std::string_view line, std::int64_t number);
  void take_times(int rank, std::string_view text, std::int64_t number);
  RankTimer* add(std::string_view name, std::int64_t number);
  std::vector<int> columns_;  ///< ranks of the table's columns behind the first
  std::string name_;          ///< of the list that may have begun
  std::vector<RankTimer> timers_;
};

/// Ranks that are much slower than the others in their own work; in waits for others a slow rank is the fastest.
/// returns  empty: no rank is, or timers disagree on which
std::vector<int> slow_ranks(const std::vector<RankTimer>& timers);

/// Whether a timer of this name measures the rank's own work, not a wait for others.
bool is_own_work(std::string_view name);

}  // namespace ringside::hang

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// The times of one activity, by rank; the unit is the same for all. A rate, `tokens/s`, counts as the time that is its
/// inverse.
struct RankTimer {
  std::string name;  ///< `forward-compute`
  std::map<int, double> times;
  std::int64_t line = 0;  ///< number of the first line with this name in the file
};

/// Reads tables of times by rank:
///
///     | timer (ms)      | rank 42 | **rank 44** |         forward-compute:
///     |-----------------|---------|-------------|            rank  0: 1188.42
///     | forward-compute | 1188.42 | 5610.33     |            rank  1: 5610.33
///
/// and log lines such as `[rank 3] step 12 fwd 1.02s, comm 8.84s`, of which it keeps each rank's least time per
/// activity.
///
/// source  Megatron-LM megatron/core/timers.py, `--timing-log-option all`
class RankTimers {
 public:
  /// Takes the next line; `number` is its line number.
  void take(std::string_view line, std::int64_t number);
  [[nodiscard]] const std::vector<RankTimer>& timers() const { return timers_; }

 private:
  bool take_row(std::string_view line, std::int64_t number);
  void take_times(int rank, std::string_view text, std::int64_t number);
  RankTimer* add(std::string_view name, std::int64_t number);
  std::vector<int> columns_;  ///< ranks of the table's columns after the first
  std::string name_;          ///< name of the list that may have begun
  std::vector<RankTimer> timers_;
};

/// Returns the ranks that are much slower than the others in their own work. Timers of waits are not compared, because
/// the slowest rank waits least.
/// returns  empty if no rank is slower, or the timers show different ranks
std::vector<int> slow_ranks(const std::vector<RankTimer>& timers);

/// Returns whether a timer with this name measures the rank's own work instead of a wait for others.
bool is_own_work(std::string_view name);

}  // namespace ringside::hang

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "harness/probe/compare.h"
#include "harness/timed_runs.h"
#include "ringside/units.h"

namespace ringside {
namespace runtime {
class Communicator;
}  // namespace runtime
}  // namespace ringside

namespace ringside::probe {

/// Gathers the host reports of all ranks, in rank order. Every rank must call it at the same time.
/// errors  as Communicator::all_gather_bytes(); Corrupt: a rank's report is invalid or too long
Result<std::vector<HostReport>> exchange(runtime::Communicator& communicator,
                                         const HostReport& mine);

/// Returns the order of pair measurements. In each step, each rank and each host is in at most one
/// pair, so no link is shared. Pairs within a host run one after the other, as they share its
/// memory.
///
/// hosts    host number of each rank, from 0
/// returns  [step] = pairs of ranks; each pair of ranks is in one step
std::vector<std::vector<std::pair<int, int>>> tournament(const std::vector<int>& hosts);

/// Settings of the measurement, which uses time_runs() and the buffers of bench.
struct PairOptions {
  Bytes large{4 << 20};  ///< size of the messages that measure bandwidth
  int turns = 2;         ///< repetitions; the better one counts, as disturbances only slow down
  TimedRuns round_trips{.warmup = 5, .iterations = 100};  ///< messages of 8 B
  TimedRuns transfers{.warmup = 5,
                      .iterations = 8};  ///< messages of size `large`, in each direction
  std::function<void(double share)> on_progress = {};
};

/// The measured performance from one rank to another.
struct PairCell {
  int from = 0, to = 0;
  double latency_us = 0;    ///< 8 B in one direction: half a round trip, the median
  double gbs = 0;           ///< 10^9 B/s, of the fastest message
  double expected_gbs = 0;  ///< by the slower of both interfaces; 0: unknown
  bool is_outlier = false;
  bool is_slow = false;  ///< an outlier by its rate
  std::string why = {};  ///< reason, if an outlier
};

/// The measurements of all pairs.
struct PairMatrix {
  int nranks = 0;
  std::vector<std::string> hosts = {};         ///< [rank]
  std::vector<std::optional<int>> cores = {};  ///< by rank: its core; none: not bound to one core
  std::vector<PairCell> cells = {};            ///< at from * nranks + to; zeros if from == to
  bool is_crowded = false;                     ///< a host has more ranks than cores
  /// shape  0 <= from, to < nranks
  [[nodiscard]] const PairCell& at(int from, int to) const {
    return cells[static_cast<std::size_t>(from * nranks + to)];
  }
};

/// Measures all pairs. Every rank must call it at the same time, with the same options. The ranks'
/// calls differ, so the communicator does not compare them.
/// reports  by rank, as exchange() returns them
/// errors   as Communicator::run()
Result<PairMatrix> measure_pairs(runtime::Communicator& communicator, const PairOptions& options,
                                 const std::vector<HostReport>& reports);

/// Marks outliers, separately among pairs within hosts and between hosts: rate below half the
/// median, or latency above three times the median.
void mark_outliers(PairMatrix& matrix);

/// Returns findings (low_bandwidth) about the outliers and the rank that is part of most of them.
std::vector<audit::Finding> judge_pairs(const PairMatrix& matrix);

}  // namespace ringside::probe

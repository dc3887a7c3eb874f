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

/// What each rank of a job sees of its host, by rank. Every rank calls it at the same time.
/// errors  as Communicator::all_gather_bytes; Corrupt
Result<std::vector<HostReport>> exchange(runtime::Communicator& communicator,
                                         const HostReport& mine);

/// The order of measurements: in a step each rank is in one pair at most, and each host too, so that none shares a link. Pairs
/// within a host go one after the other: they share its memory.
///
/// hosts    of each rank, numbered from 0
/// returns  [step] = pairs of ranks; each pair of ranks is in one step
/// source   the circle method of round-robin tournaments
std::vector<std::vector<std::pair<int, int>>> tournament(const std::vector<int>& hosts);

/// Each pair is measured by the loop that bench has (time_runs()), on buffers as bench has them.
struct PairOptions {
  Bytes large{4 << 20};
  int turns = 2;  ///< of both; the better one counts, for what else happens only ever slows
  TimedRuns round_trips{.warmup = 5, .iterations = 100};  ///< of 8 B
  TimedRuns transfers{.warmup = 5, .iterations = 8};      ///< of `large`, each way
  std::function<void(double share)> on_progress = {};
};

/// What one rank gets to another.
struct PairCell {
  int from = 0, to = 0;
  double latency_us = 0;    ///< of 8 B one way: half a round trip, the median
  double gbs = 0;           ///< 10^9 B/s, of the fastest message
  double expected_gbs = 0;  ///< by the slower interface of the two; 0: not known
  bool is_outlier = false;
  bool is_slow = false;  ///< an outlier by its rate, not its latency alone
  std::string why = {};  ///< of an outlier
};

struct PairMatrix {
  int nranks = 0;
  std::vector<std::string> hosts = {};         ///< [rank]
  std::vector<std::optional<int>> cores = {};  ///< [rank] = its core; none: it may run on several
  std::vector<PairCell> cells = {};            ///< [from * nranks + to]; from = to: zeros
  bool is_crowded = false;                     ///< some host has more ranks than cores
  [[nodiscard]] const PairCell& at(int from, int to) const {
    return cells[static_cast<std::size_t>(from * nranks + to)];
  }
};

/// Every rank calls it at the same time, with the same options. Calls are not alike on all ranks: the communicator does not
/// check them.
/// reports  of exchange()
/// errors   as Communicator::run()
Result<PairMatrix> measure_pairs(runtime::Communicator& communicator, const PairOptions& options,
                                 const std::vector<HostReport>& reports);

/// Marks outliers among like pairs: pairs within hosts, and between them, separately. Slower than half the median, or
/// three times as late.
void mark_outliers(PairMatrix& matrix);

/// The outliers, and the rank that is in most of them, as findings (low_bandwidth).
std::vector<audit::Finding> judge_pairs(const PairMatrix& matrix);

}  // namespace ringside::probe

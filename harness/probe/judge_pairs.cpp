#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/probe/pairs.h"

namespace ringside::probe {
namespace {

/// Returns the upper median; 0 without values.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void mark_outliers(PairMatrix& matrix) {
  for (const bool is_within : {true, false}) {
    // Ranks that share a core wait for each other, so their times are no evidence about a link.
    if (is_within && matrix.is_crowded) continue;
    std::vector<double> rates, times;
    std::vector<PairCell*> like;
    for (PairCell& cell : matrix.cells) {
      const auto a = static_cast<std::size_t>(cell.from), b = static_cast<std::size_t>(cell.to);
      if (cell.from == cell.to || (matrix.hosts[a] == matrix.hosts[b]) != is_within) continue;
      rates.push_back(cell.gbs);
      times.push_back(cell.latency_us);
      like.push_back(&cell);
    }
    // Three ranks have six directions. With two ranks, nothing shows which of the two directions is unusual.
    constexpr std::size_t kFewest = 6;
    if (like.size() < kFewest) continue;
    const double rate = median(rates), time = median(times);
    for (PairCell* cell : like) {
      // Chosen: equal links differ by less, also while their hosts are busy; latencies vary more than rates.
      cell->is_slow = cell->gbs < rate / 2;
      if (cell->is_slow) {
        cell->why = fmt::format("{:.2f} GB/s, the median {:.2f}", cell->gbs, rate);
      } else if (cell->latency_us > time * 3) {
        cell->why = fmt::format("{:.1f} us, the median {:.1f}", cell->latency_us, time);
      }
      cell->is_outlier = !cell->why.empty();
    }
  }
}

std::vector<audit::Finding> judge_pairs(const PairMatrix& matrix) {
  std::map<int, int> times;
  std::map<int, std::set<int>> others;
  std::vector<std::string> pairs;
  std::size_t count = 0;
  // A message may be late because a host was busy; if rates differ, they show whose link is slow.
  const bool is_by_rate = std::ranges::any_of(matrix.cells, &PairCell::is_slow);
  for (const PairCell& cell : matrix.cells) {
    if (!(is_by_rate ? cell.is_slow : cell.is_outlier)) continue;
    ++count;
    ++times[cell.from];
    ++times[cell.to];
    others[cell.from].insert(cell.to);
    others[cell.to].insert(cell.from);
    constexpr std::size_t kShown = 4;
    if (pairs.size() < kShown)
      pairs.push_back(fmt::format("{} -> {}: {}", cell.from, cell.to, cell.why));
  }
  if (count == 0) return {};
  const auto worst = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  // A rank whose link is slow is part of every slow direction, of which each of its peers has two.
  const bool is_one = static_cast<std::size_t>(worst->second) == count && count > 2;
  audit::Finding finding{.id = "low_bandwidth", .severity = audit::Severity::Warning};
  const std::string host = matrix.hosts[static_cast<std::size_t>(worst->first)];
  if (is_one) {
    finding.title = fmt::format("rank {} on {} is slow with {} others: {}", worst->first, host,
                                others[worst->first].size(), fmt::join(pairs, "; "));
    finding.ranks = {worst->first};
    finding.hosts = {host};
  } else {
    finding.title = fmt::format("{} of {} directions are far below the others: {}", count,
                                matrix.cells.size() - matrix.hosts.size(), fmt::join(pairs, "; "));
    for (const auto& entry : times) finding.ranks.push_back(entry.first);
  }
  finding.cause = "a link, a port or a host on that path is slower than the others";
  finding.fix = "ringside probe on both ends; ethtool DEVICE; ringside bench between the two alone";
  finding.reference = "docs/findings/low_bandwidth.md";
  return {finding};
}

}  // namespace ringside::probe

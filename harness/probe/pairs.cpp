#include "harness/probe/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/text.h"
#include "engine/runtime/communicator.h"
#include "harness/bench_buffer.h"
#include "harness/rank_binder.h"

namespace ringside::probe {
namespace {

using Steps = std::vector<std::vector<std::pair<int, int>>>;

/// Returns the upper median; 0 without values.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Measures the messages of one pair, on one of its two ranks.
class PairRun {
 public:
  /// errors  System: no memory
  static Result<PairRun> make(runtime::Communicator& communicator, const PairOptions& options) {
    const auto size = static_cast<std::size_t>(options.large.value);
    PairRun run(communicator, options);
    RINGSIDE_TRY(run.out_, BenchBuffer::make(size, true));
    RINGSIDE_TRY(run.in_, BenchBuffer::make(size, true));
    return run;
  }

  /// returns  on the leading rank, the result of its sends; on the other rank an unused value
  Result<PairCell> run(int peer, bool leads) {
    PairCell cell{.from = to_int(communicator_.rank()), .to = peer};
    constexpr std::int64_t kSmall = 8;
    const auto large = static_cast<std::int64_t>(options_.large.value);
    // Sends there and back, because the answer shows that all data has arrived.
    const auto time = [&](const TimedRuns& runs, std::int64_t count) {
      const auto trip = [&]() -> Status {
        RINGSIDE_TRY(leads ? send(peer, count) : receive(peer, count));
        return leads ? receive(peer, kSmall) : send(peer, kSmall);
      };
      // Each round trip synchronises the two ranks, and no other rank takes part.
      return time_runs(runs, trip, [] { return Status(); });
    };
    RINGSIDE_TRY(std::vector<Seconds> trips, time(options_.round_trips, kSmall));
    const Seconds latency = quantile_of(std::move(trips), 0.5) / 2;
    RINGSIDE_TRY(std::vector<Seconds> transfers, time(options_.transfers, large));
    // Takes the shortest time: a sender waits while the other rank copies, and on a busy host the scheduler may take
    // its core away for milliseconds. A link cannot be faster than it is by chance.
    const Seconds trip = quantile_of(std::move(transfers), 0);
    cell.latency_us = latency.count() * 1e6;
    // Subtracts the answer's way back, which takes the time of a short message.
    const Seconds there = trip > 2 * latency ? trip - latency : trip / 2;
    cell.gbs = in_gbs(options_.large / there);
    return cell;
  }

 private:
  PairRun(runtime::Communicator& communicator, const PairOptions& options)
      : communicator_(communicator), options_(options) {}

  Status send(int peer, std::int64_t count) { return message(Collective::Send, peer, count); }
  Status receive(int peer, std::int64_t count) { return message(Collective::Recv, peer, count); }

  Status message(Collective kind, int peer, std::int64_t count) {
    CollectiveCall call{.collective = kind, .input = out_.data(), .output = in_.data()};
    call.count = count;
    call.type = DataType::Uint8;
    (kind == Collective::Send ? call.sends : call.recvs) = {{Rank{peer}, 0, count}};
    return communicator_.run(call);
  }

  runtime::Communicator& communicator_;
  const PairOptions& options_;
  BenchBuffer out_, in_;
};

/// Returns the rounds of a round-robin tournament by the circle method: in each round, every player meets one other
/// player, and after all rounds every two players have met once.
/// count  of players; if it is odd, one player has no opponent in each round
std::vector<std::vector<std::pair<int, int>>> circle(int count) {
  const int players = count + count % 2;  // with the absent opponent of an odd number of players
  Steps rounds;
  std::vector<int> seats;
  for (int i = 0; i < players; ++i) seats.push_back(i);
  for (int round = 0; round + 1 < players; ++round) {
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < players / 2; ++i) {
      const int a = seats[static_cast<std::size_t>(i)];
      const int b = seats[static_cast<std::size_t>(players - 1 - i)];
      if (a < count && b < count) pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
    rounds.push_back(std::move(pairs));
    std::rotate(seats.begin() + 1, seats.end() - 1, seats.end());
  }
  return rounds;
}

/// Returns the interface rate from a host's traits, GB/s; 0: unknown.
double interface_gbs(const HostReport& host) {
  for (const auto& [name, value] : host.traits) {
    if (name != "interface speed") continue;
    const Result<std::int64_t> mbits = parse_int(value.substr(0, value.find(' ')));
    return mbits ? static_cast<double>(*mbits) / 8e3 : 0;
  }
  return 0;
}

}  // namespace

Result<std::vector<HostReport>> exchange(runtime::Communicator& communicator,
                                         const HostReport& mine) {
  std::string message = to_message(mine);
  const std::uint64_t size = message.size();
  RINGSIDE_TRY(const std::vector<std::byte> sizes,
               communicator.all_gather_bytes(std::as_bytes(std::span(&size, 1))));
  std::vector<std::uint64_t> each(sizes.size() / sizeof size);
  std::memcpy(each.data(), sizes.data(), sizes.size());
  const std::uint64_t most = *std::max_element(each.begin(), each.end());
  // Limits the memory that a faulty peer makes every rank allocate.
  constexpr std::uint64_t kMost = 4 << 20;
  if (most > kMost) {
    return Error{ErrorCode::Corrupt, fmt::format("a rank sent a report of {} bytes", most),
                 "run the same ringside on all hosts"};
  }
  message.resize(static_cast<std::size_t>(most), ' ');
  RINGSIDE_TRY(const std::vector<std::byte> all,
               communicator.all_gather_bytes(std::as_bytes(std::span(message))));
  std::vector<HostReport> reports;
  for (std::size_t rank = 0; rank < each.size(); ++rank) {
    const auto* begin = reinterpret_cast<const char*>(all.data()) + rank * most;
    RINGSIDE_TRY(HostReport report, parse_report(std::string(begin, each[rank])));
    reports.push_back(std::move(report));
  }
  return reports;
}

Steps tournament(const std::vector<int>& hosts) {
  // Two hosts that meet in a round use one step for each pair of their ranks, one after the other.
  std::map<int, std::vector<int>> ranks_of;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    ranks_of[hosts[rank]].push_back(static_cast<int>(rank));
  }
  std::vector<std::vector<int>> groups;
  for (const auto& entry : ranks_of) groups.push_back(entry.second);
  Steps steps;
  const auto add = [&](std::size_t first, std::size_t at, std::pair<int, int> pair) {
    if (steps.size() <= first + at) steps.resize(first + at + 1);
    steps[first + at].push_back(
        {std::min(pair.first, pair.second), std::max(pair.first, pair.second)});
  };
  for (const auto& round : circle(static_cast<int>(groups.size()))) {
    const std::size_t first = steps.size();
    for (const auto& [a, b] : round) {
      std::size_t at = 0;
      for (const int x : groups[static_cast<std::size_t>(a)]) {
        for (const int y : groups[static_cast<std::size_t>(b)]) add(first, at++, {x, y});
      }
    }
  }
  const std::size_t first = steps.size();
  for (const std::vector<int>& group : groups) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = i + 1; j < group.size(); ++j) add(first, at++, {group[i], group[j]});
    }
  }
  return steps;
}

Result<PairMatrix> measure_pairs(runtime::Communicator& communicator, const PairOptions& options,
                                 const std::vector<HostReport>& reports) {
  const int n = communicator.nranks(), me = to_int(communicator.rank());
  PairMatrix matrix{.nranks = n,
                    .hosts = {},
                    .cores = {},
                    .cells = {},
                    .is_crowded = communicator.layout().is_crowded};
  std::map<std::string, int> numbers;
  std::vector<int> hosts;
  for (const HostReport& report : reports) {
    const auto number = numbers.emplace(report.identity, static_cast<int>(numbers.size()));
    hosts.push_back(number.first->second);
    matrix.hosts.push_back(report.host);
  }
  const Steps steps = tournament(hosts);
  RINGSIDE_TRY(PairRun run, PairRun::make(communicator, options));
  struct Measured {
    double latency_us = 0, gbs = 0;
    std::int64_t core = -1;
  };
  std::vector<Measured> mine(static_cast<std::size_t>(n));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (const auto& [a, b] : steps[step]) {
      if (me != a && me != b) continue;
      const int peer = me == a ? b : a;
      for (const int leader : {a, b}) {
        for (int turn = 0; turn < options.turns; ++turn) {
          RINGSIDE_TRY(const PairCell cell, run.run(peer, me == leader));
          if (me != leader) continue;
          Measured& best = mine[static_cast<std::size_t>(peer)];
          best.gbs = std::max(best.gbs, cell.gbs);
          best.latency_us =
              turn == 0 ? cell.latency_us : std::min(best.latency_us, cell.latency_us);
        }
      }
    }
    RINGSIDE_TRY(communicator.barrier());
    if (options.on_progress) {
      options.on_progress(static_cast<double>(step + 1) / static_cast<double>(steps.size()));
    }
  }
  for (Measured& one : mine) one.core = own_core().value_or(-1);
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               communicator.all_gather_bytes(std::as_bytes(std::span(mine))));
  std::vector<Measured> all(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  for (int from = 0; from < n; ++from) {
    const std::int64_t core = all[static_cast<std::size_t>(from * n)].core;
    matrix.cores.push_back(core < 0 ? std::nullopt : std::optional(static_cast<int>(core)));
    for (int to = 0; to < n; ++to) {
      const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
      const Measured& best = all[a * static_cast<std::size_t>(n) + b];
      PairCell cell{.from = from, .to = to, .latency_us = best.latency_us, .gbs = best.gbs};
      // Within a host no rate is known beforehand.
      if (hosts[a] != hosts[b]) {
        const double one = interface_gbs(reports[a]), other = interface_gbs(reports[b]);
        if (one > 0 && other > 0) cell.expected_gbs = std::min(one, other);
      }
      matrix.cells.push_back(cell);
    }
  }
  mark_outliers(matrix);
  return matrix;
}

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
  finding.cause = "a link, a port or a host on that way is slower than its like";
  finding.fix = "ringside probe on both ends; ethtool DEVICE; ringside bench between the two alone";
  finding.reference = "docs/findings/low_bandwidth.md";
  return {finding};
}

}  // namespace ringside::probe

#include "harness/probe/pairs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "base/text.h"
#include "engine/runtime/communicator.h"
#include "harness/bench_buffer.h"
#include "harness/rank_binder.h"

namespace ringside::probe {
namespace {

using Steps = std::vector<std::vector<std::pair<int, int>>>;

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

/// Returns the rate of the slower one of two hosts' interfaces, GB/s; 0: unknown.
double slower_gbs(const HostReport& a, const HostReport& b) {
  const double one = interface_gbs(a);
  const double other = interface_gbs(b);
  return one > 0 && other > 0 ? std::min(one, other) : 0;
}

/// Numbers the hosts from 0 on.  returns  by rank
std::vector<int> host_numbers(const std::vector<HostReport>& reports) {
  std::map<std::string, int> numbers;
  std::vector<int> hosts;
  for (const HostReport& report : reports) {
    const auto known = numbers.emplace(report.identity, static_cast<int>(numbers.size()));
    hosts.push_back(known.first->second);
  }
  return hosts;
}

/// A rank's best measurement of one peer, as all ranks gather it.
struct Measured {
  double latency_us = 0, gbs = 0;
  std::int64_t core = -1;  ///< the rank's; -1: not bound to one core
};

/// Measures the pairs of this rank, step by step with all other ranks.
/// returns  by peer
Result<std::vector<Measured>> measure_own(runtime::Communicator& communicator,
                                          const PairOptions& options, const Steps& steps) {
  const int me = to_int(communicator.rank());
  std::vector<Measured> mine(static_cast<std::size_t>(communicator.nranks()));
  RINGSIDE_TRY(PairRun run, PairRun::make(communicator, options));
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
  return mine;
}

}  // namespace

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
  PairMatrix matrix;
  matrix.nranks = communicator.nranks();
  matrix.is_crowded = communicator.layout().is_crowded;
  for (const HostReport& report : reports) matrix.hosts.push_back(report.host);
  const std::vector<int> hosts = host_numbers(reports);
  RINGSIDE_TRY(const std::vector<Measured> mine,
               measure_own(communicator, options, tournament(hosts)));
  RINGSIDE_TRY(const std::vector<std::byte> bytes,
               communicator.all_gather_bytes(std::as_bytes(std::span(mine))));
  const auto n = static_cast<std::size_t>(matrix.nranks);
  std::vector<Measured> all(n * n);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  for (std::size_t from = 0; from < n; ++from) {
    const std::int64_t core = all[from * n].core;
    matrix.cores.push_back(core < 0 ? std::nullopt : std::optional(static_cast<int>(core)));
    for (std::size_t to = 0; to < n; ++to) {
      const Measured& best = all[from * n + to];
      PairCell& cell = matrix.cells.emplace_back();
      cell.from = static_cast<int>(from);
      cell.to = static_cast<int>(to);
      cell.latency_us = best.latency_us;
      cell.gbs = best.gbs;
      // Within a host no rate is known beforehand.
      if (hosts[from] != hosts[to]) cell.expected_gbs = slower_gbs(reports[from], reports[to]);
    }
  }
  mark_outliers(matrix);
  return matrix;
}

}  // namespace ringside::probe

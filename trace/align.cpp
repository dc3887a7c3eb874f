#include "trace/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "trace/match.h"

namespace ringside {
namespace {

/// Two processes share a boot clock if their wall clocks are ahead of it by nearly the same time: hosts that boot within a
/// second of each other are rare, and wall clocks are stepped by less.
constexpr std::int64_t kSameBootNs = 1'000'000'000;
/// Times beyond this are refused, so that the sum of two times fits into 64 bits.
constexpr std::int64_t kMostClockNs = std::int64_t{1} << 61;
constexpr std::size_t kBuckets = 64;  ///< parts of the run for which bounds are kept

/// Returns the middle without an overflow.
std::int64_t middle(std::int64_t a, std::int64_t b) { return a + (b - a) / 2; }

/// The bounds of `second - first`, ns, that the transfers between two clocks set.
struct Bounds {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] bool has_least() const { return least != std::numeric_limits<std::int64_t>::min(); }
  [[nodiscard]] bool has_most() const { return most != std::numeric_limits<std::int64_t>::max(); }
  [[nodiscard]] bool has_both() const { return has_least() && has_most(); }
  void take(const Bounds& other) {
    least = std::max(least, other.least);
    most = std::min(most, other.most);
  }
};

/// Two clocks, and the transfers between their processes.
struct Pair {
  std::array<Bounds, kBuckets> buckets;  ///< by time of the receive
  std::uint64_t messages = 0;

  [[nodiscard]] Bounds within(std::size_t first, std::size_t last) const {
    Bounds all;
    for (std::size_t i = first; i < last; ++i) all.take(buckets[i]);
    return all;
  }
};

/// Consecutive buckets with one offset, which applies at their middle.
struct Piece {
  std::size_t first;    ///< bucket
  std::size_t last;     ///< after the last bucket
  std::int64_t offset;  ///< ns to be added
  std::int64_t doubt;   ///< ns: half of the interval that the transfers allow
};

/// Halves the buckets until one offset satisfies the transfers of each piece. A piece without transfers in both
/// directions is not halved further. A bucket whose transfers contradict each other gets
/// the middle of its bounds.
void cut(const Pair& pair, std::size_t first, std::size_t last, std::vector<Piece>& into) {
  const Bounds all = pair.within(first, last);
  const std::size_t half = (first + last) / 2;
  if (all.has_both() && all.least > all.most && last - first > 1 &&
      pair.within(first, half).has_both() && pair.within(half, last).has_both()) {
    cut(pair, first, half, into);
    cut(pair, half, last, into);
    return;
  }
  into.push_back({first, last, middle(all.least, all.most), std::abs(all.most - all.least) / 2});
}

/// The time of the run, divided into buckets.
struct Range {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();

  [[nodiscard]] std::size_t bucket(std::int64_t at) const {
    const auto share = static_cast<long double>(at - begin) /
                       static_cast<long double>(std::max<std::int64_t>(end - begin, 1));
    return std::min(static_cast<std::size_t>(std::max(share, 0.0L) * kBuckets), kBuckets - 1);
  }
  [[nodiscard]] std::int64_t middle_of(std::size_t first, std::size_t last) const {
    const long double share = static_cast<long double>(first + last) / (2 * kBuckets);
    return begin + static_cast<std::int64_t>(share * static_cast<long double>(end - begin));
  }
};

/// Pairs by clocks, the smaller first.
using Pairs = std::map<std::pair<std::size_t, std::size_t>, Pair>;

/// Returns the pair with bounds of `to - from`.
/// is_turned  `from` is the larger one, so that the bounds are those of `from - to`
Pair seen_from(const Pair& pair, bool is_turned) {
  if (!is_turned) return pair;
  Pair turned = pair;
  for (Bounds& one : turned.buckets) {
    const Bounds was = one;
    one = {};
    if (was.has_most()) one.least = -was.most;
    if (was.has_least()) one.most = -was.least;
  }
  return turned;
}

/// A clock that is joined, and one that is joined to it next.
struct Step {
  std::size_t from;
  std::size_t to;
};

/// Returns the step whose transfers leave the least doubt. Pairs with transfers in both directions come first.
std::optional<Step> next_step(const Pairs& pairs, const std::vector<bool>& is_joined) {
  std::optional<Step> best;
  std::tuple<bool, std::int64_t> least{true, std::numeric_limits<std::int64_t>::max()};
  for (const auto& [ends, pair] : pairs) {
    const auto [a, b] = ends;
    if (is_joined[a] == is_joined[b]) continue;
    const Bounds all = pair.within(0, kBuckets);
    const std::tuple<bool, std::int64_t> doubt{!all.has_both(),
                                               all.has_both() ? std::abs(all.most - all.least) : 0};
    if (best && doubt >= least) continue;
    least = doubt;
    best = is_joined[a] ? Step{a, b} : Step{b, a};
  }
  return best;
}

Error far_apart(const std::string& name) {
  return {ErrorCode::Corrupt, fmt::format("{}: times that no clock can show", name),
          "merge the other files without it"};
}

}  // namespace

const char* to_string(ClockEvidence evidence) {
  switch (evidence) {
    case ClockEvidence::Reference:
      return "reference";
    case ClockEvidence::Messages:
      return "messages";
    case ClockEvidence::OneWay:
      return "one way";
    case ClockEvidence::WallClocks:
      return "wall clocks";
  }
  return "?";
}

std::size_t AlignedClocks::clock_of(std::size_t file, std::uint32_t pid) const {
  const std::vector<Process>& all = processes_[file];
  const auto found = std::ranges::lower_bound(all, pid, {}, &Process::pid);
  return found != all.end() && found->pid == pid ? found->clock : all.front().clock;
}

void AlignedClocks::for_each_block(
    std::span<const TraceFile* const> files,
    const std::function<void(std::size_t, const TraceBlock&)>& visit) const {
  using Next = std::tuple<std::int64_t, std::size_t, std::size_t>;  // when, file, block
  std::priority_queue<Next, std::vector<Next>, std::greater<>> waiting;
  const auto enqueue = [&](std::size_t file, std::size_t index) {
    if (index >= files[file]->block_count()) return;
    const TraceBlock block = files[file]->block(index);
    const std::int64_t begin = block.is_readable(0) ? block.columns().begin_ns[0] : 0;
    waiting.emplace(begin + by_wall_[clock_of(file, block.pid())], file, index);
  };
  for (std::size_t file = 0; file < files.size(); ++file) enqueue(file, 0);
  while (!waiting.empty()) {
    const auto [when, file, index] = waiting.top();
    waiting.pop();
    visit(file, files[file]->block(index));
    enqueue(file, index + 1);
  }
}

/// Aligns the clocks in four steps: finds the clocks, the time of the run, the bounds between each two clocks, and then
/// joins clock after clock to the reference.
class AlignedClocks::Builder {
 public:
  Builder(std::span<const TraceFile* const> files, std::span<const std::string> names)
      : files_(files), names_(names) {}

  Result<AlignedClocks> run() {
    RINGSIDE_TRY(find_clocks());
    RINGSIDE_TRY(find_span());
    if (made_.clocks_.size() > 1) collect_bounds();
    join();
    return std::move(made_);
  }

 private:
  /// Finds the clock of each process.
  Status find_clocks() {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      if (files_[file]->processes().empty()) {
        return Error{ErrorCode::Corrupt,
                     fmt::format("{}: no process has introduced itself, so its clock is unknown",
                                 names_[file]),
                     "merge the other files without it"};
      }
      std::vector<Process>& processes = made_.processes_.emplace_back();
      for (const TraceInfo& info : files_[file]->processes()) {
        if (info.clock == TraceClock::Simulated && files_.size() > 1) {
          return Error{
              ErrorCode::InvalidArgument,
              fmt::format("{}: a simulated run, whose clock has nothing to do with another's",
                          names_[file]),
              "to compare two runs: ringside gui A.rtrace --beside B.rtrace"};
        }
        const std::int64_t realtime = info.realtime_offset.count();
        if (realtime <= -kMostClockNs || realtime >= kMostClockNs) return far_apart(names_[file]);
        const std::size_t clock = clock_for(file, info.host, realtime);
        // A process that made the file and then joined it has introduced itself twice.
        if (std::ranges::find(processes, info.pid, &Process::pid) != processes.end()) continue;
        ++made_.clocks_[clock].processes;
        processes.push_back({info.pid, clock});
      }
      std::ranges::sort(processes, {}, &Process::pid);
    }
    return {};
  }

  /// Returns the clock of a process, which is a new one unless a process of the file or of the host shares it.
  std::size_t clock_for(std::size_t file, const std::string& host, std::int64_t realtime) {
    for (std::size_t clock = 0; clock < known_.size(); ++clock) {
      const bool is_near = std::abs(realtime - known_[clock].realtime) < kSameBootNs;
      if (is_near && (known_[clock].file == file || made_.clocks_[clock].host == host))
        return clock;
    }
    known_.push_back({file, realtime});
    AlignedClock clock;
    clock.host = host;
    made_.clocks_.push_back(std::move(clock));
    made_.by_wall_.push_back(realtime - known_.front().realtime);
    return known_.size() - 1;
  }

  /// Returns a time of the clock on the reference, by wall clocks.
  [[nodiscard]] std::int64_t on_wall(std::size_t clock, std::int64_t at) const {
    return at + made_.by_wall_[clock];
  }

  /// errors  Corrupt: times that no clock can show
  Status find_span() {
    for (std::size_t file = 0; file < files_.size(); ++file) {
      bool is_absurd = false;
      for (std::size_t b = 0; b < files_[file]->block_count(); ++b) {
        const TraceBlock block = files_[file]->block(b);
        const std::size_t clock = made_.clock_of(file, block.pid());
        block.for_each_event([&](const TraceEvent& event) {
          if (event.begin_ns <= -kMostClockNs || event.end_ns >= kMostClockNs) {
            is_absurd = true;
            return;
          }
          span_.begin = std::min(span_.begin, on_wall(clock, event.begin_ns));
          span_.end = std::max(span_.end, on_wall(clock, event.end_ns));
        });
      }
      if (is_absurd) return far_apart(names_[file]);
    }
    if (span_.begin > span_.end) span_ = {0, 0};
    return {};
  }

  void collect_bounds() {
    TransferMatcher matcher([this](const TraceTransfer& transfer) { take(transfer); });
    made_.for_each_block(files_, [&](std::size_t file, const TraceBlock& block) {
      const auto clock = static_cast<std::uint32_t>(made_.clock_of(file, block.pid()));
      block.for_each_event([&](const TraceEvent& event) { matcher.add(event, {clock, 0}); });
    });
  }

  /// Adds the bound that a transfer sets: with the corrections c of both clocks, received + c[to] >= sent + c[from].
  void take(const TraceTransfer& transfer) {
    const std::size_t from = transfer.send.event;
    const std::size_t to = transfer.recv.event;
    if (from == to) return;
    Pair& pair = pairs_[std::minmax(from, to)];
    ++pair.messages;
    const std::int64_t received = on_wall(to, transfer.recv_end_ns);
    const std::int64_t bound = on_wall(from, transfer.send_begin_ns) - received;
    Bounds& bounds = pair.buckets[span_.bucket(received)];
    if (from < to) {
      bounds.least = std::max(bounds.least, bound);
    } else {
      bounds.most = std::min(bounds.most, -bound);
    }
  }

  /// Joins the clocks to the reference along the pairs that leave the least doubt. A clock without transfers keeps the
  /// offset of its wall clock.
  void join() {
    is_joined_.resize(made_.clocks_.size());
    from_wall_.resize(made_.clocks_.size());
    keep(0, ClockEvidence::Reference);
    for (;;) {
      if (const std::optional<Step> step = next_step(pairs_, is_joined_)) {
        join(step->from, step->to);
        continue;
      }
      const auto alone = std::ranges::find(is_joined_, false);
      if (alone == is_joined_.end()) break;
      keep(static_cast<std::size_t>(alone - is_joined_.begin()), ClockEvidence::WallClocks);
    }
    const std::int64_t at = span_.middle_of(0, kBuckets);
    for (std::size_t i = 0; i < made_.clocks_.size(); ++i) {
      made_.clocks_[i].moved = Nanoseconds{from_wall_[i].segment_at(at).to_monotonic(at) - at};
    }
  }

  /// Joins a clock with the offset of its wall clock.
  void keep(std::size_t clock, ClockEvidence evidence) {
    is_joined_[clock] = true;
    made_.clocks_[clock].evidence = evidence;
    made_.clocks_[clock].pieces = 1;
    add(clock, span_.begin, span_.begin);
  }

  /// Adds a point to the maps of a clock: its time by the wall clock, and the reference's.
  void add(std::size_t clock, std::int64_t wall, std::int64_t reference) {
    from_wall_[clock].add({wall, reference});
    made_.clocks_[clock].to_reference.add({wall - made_.by_wall_[clock], reference});
  }

  /// Aligns `to` to the clock `from`, which is joined.
  void join(std::size_t from, std::size_t to) {
    const Pair pair = seen_from(pairs_.at(std::minmax(from, to)), from > to);
    const Bounds all = pair.within(0, kBuckets);
    std::vector<Piece> pieces;
    if (all.has_both()) {
      cut(pair, 0, kBuckets, pieces);
    } else {
      pieces.push_back({0, kBuckets,
                        all.has_least() ? std::max<std::int64_t>(all.least, 0)
                                        : std::min<std::int64_t>(all.most, 0),
                        0});
    }
    AlignedClock& clock = made_.clocks_[to];
    is_joined_[to] = true;
    clock.evidence = all.has_both() ? ClockEvidence::Messages : ClockEvidence::OneWay;
    clock.messages = pair.messages;
    clock.pieces = pieces.size();
    std::int64_t doubt = 0;
    for (const Piece& piece : pieces) {
      const std::int64_t at = span_.middle_of(piece.first, piece.last);
      const std::int64_t on_from = at + piece.offset;
      add(to, at, from_wall_[from].segment_at(on_from).to_monotonic(on_from));
      doubt = std::max(doubt, piece.doubt);
    }
    if (all.has_both()) {
      clock.uncertainty = Nanoseconds{doubt} + made_.clocks_[from].uncertainty;
    }
  }

  /// The first process found on a clock.
  struct Known {
    std::size_t file;
    std::int64_t realtime;  ///< ns from the boot clock to the wall clock
  };

  std::span<const TraceFile* const> files_;
  std::span<const std::string> names_;
  AlignedClocks made_;
  std::vector<Known> known_;  ///< [clock]
  Range span_;                ///< of all events, on wall clocks
  Pairs pairs_;
  std::vector<bool> is_joined_;      ///< [clock]
  std::vector<ClockMap> from_wall_;  ///< [clock]: from its time by the wall to the reference's
};

Result<AlignedClocks> AlignedClocks::of(std::span<const TraceFile* const> files,
                                        std::span<const std::string> names) {
  RINGSIDE_ASSERT(files.size() == names.size(), "{} files, {} names", files.size(), names.size());
  if (files.empty()) return Error{ErrorCode::InvalidArgument, "no trace", "name two or more"};
  return Builder(files, names).run();
}

}  // namespace ringside

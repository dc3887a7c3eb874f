#include "sim/flow/by_chance.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "sim/event/event_engine.h"
#include "sim/flow/coupled.h"
#include "sim/flow/link_users.h"
#include "sim/flow/steady.h"

namespace ringside {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Maximum lines of a channel's kinds that are simulated one by one.
constexpr std::int64_t kMostSteps = 4'000'000;
// Maximum turns of an iteration. The values of the last one are used even if they still change.
constexpr int kMostTurns = 12;
// Iteration stops when no class's time changes by more than this share.
constexpr double kSettled = 1e-3;
// Loops count as steady when their time changes by less than this share.
constexpr double kSteady = 1e-3;

/// Rates of the kinds of lines of a class, bytes/s. Lines of one kind run at the pace of the slowest, because they
/// wait for each other.
using KindRates = std::vector<double>;

/// Rounds to 9 digits, because sums of equal parts in different orders differ slightly.
std::vector<std::int64_t> rounded(const KindRates& rates) {
  std::vector<std::int64_t> digits;
  for (const double rate : rates) {
    digits.push_back(std::isinf(rate) ? -1 : std::llround(std::log(rate) * 1e9));
  }
  return digits;
}

/// Duration of one loop of a shape when it runs alone, and the times at which it uses its lines.
using Filling = LinesRun;

/// The traffic of a call in one of two states: the whole call through full pipelines, or one loop through empty ones.
struct Regime {
  bool is_full = true;
  std::vector<KindRates> rates = {};  ///< [class]
  std::vector<Seconds> times = {};    ///< [class]
  /// [class][kind of line]: times at which an empty pipeline uses the line
  std::vector<std::vector<LineSpan>> spans = {};
};

class ChanceEngine {
 public:
  ChanceEngine(const SimRequest& request, const FlowKinds& kinds,
               const std::function<void(double)>& on_progress)
      : request_(request), kinds_(kinds), on_progress_(on_progress) {
    std::map<const FlowShape*, int> numbers;
    for (const FlowClass& one : kinds.classes) {
      const auto next = static_cast<int>(numbers.size());
      shape_numbers_.push_back(numbers.try_emplace(one.shape.get(), next).first->second);
    }
  }

  Result<Seconds> run() {
    share_links();
    RINGSIDE_TRY(settle(full_, {0, 0.3}));
    RINGSIDE_TRY(settle(empty_, {0.3, 0.6}));
    Seconds longest{};
    for (std::size_t i = 0; i < kinds_.classes.size(); ++i) {
      report_progress({0.6, 1}, i, kinds_.classes.size());
      RINGSIDE_TRY(const Seconds time, time_of(i));
      longest = std::max(longest, time);
    }
    return longest;
  }

 private:
  /// The part of the whole progress that a phase covers, as shares of it.
  struct Part {
    double from = 0, to = 1;
  };
  void report_progress(const Part& part, std::size_t done, std::size_t all) const {
    if (all == 0) return;
    const double share = static_cast<double>(done) / static_cast<double>(all);
    on_progress_(part.from + share * (part.to - part.from));
  }

  [[nodiscard]] const FlowShape& shape_of(int of_class) const {
    return *kinds_.classes[static_cast<std::size_t>(of_class)].shape;
  }
  [[nodiscard]] double bytes_of(const LinesOver& lines) const {
    return shape_of(lines.of_class).bytes[static_cast<std::size_t>(lines.kind)];
  }

  /// Computes the share of the links that each class gets while all lines are busy.
  void share_links() {
    std::vector<CoupledFlow> flows(kinds_.classes.size());
    for (std::size_t number = 0; number < kinds_.links.size(); ++number) {
      std::map<int, double> loads;
      for (const LinesOver& lines : kinds_.links[number].lines) {
        loads[lines.of_class] += lines.count * bytes_of(lines);
      }
      for (const auto& [of_class, load] : loads) {
        flows[static_cast<std::size_t>(of_class)].loads.emplace_back(static_cast<int>(number),
                                                                     load);
      }
    }
    shares_ = share_coupled(
        flows, [this](int number) { return kinds_.links[static_cast<std::size_t>(number)].rate; });
  }

  /// A line's rate depends on how much of the time others use its links. That depends on the durations of the loops,
  /// and these depend on the rates. So both are computed alternately until they no longer change, or kMostTurns times.
  Status settle(Regime& regime, const Part& part) {
    const std::size_t classes = kinds_.classes.size();
    regime.times.resize(classes);
    regime.spans.resize(classes);
    std::vector<double> fair;  // [link]: share while all its lines are busy
    for (const AlikeLinks& link : kinds_.links) {
      int all = 0;
      for (const LinesOver& lines : link.lines) all += lines.count;
      fair.push_back(link.rate / all);
    }
    for (std::size_t i = 0; i < classes; ++i) {
      regime.rates.push_back(rates_of(i, [&](const AlikeLinks& link, const LinesOver& /*lines*/) {
        return fair[static_cast<std::size_t>(&link - kinds_.links.data())];
      }));
    }
    for (int turn = 0; turn < kMostTurns; ++turn) {
      bool is_settled = true;
      for (std::size_t i = 0; i < classes; ++i) {
        report_progress(part, static_cast<std::size_t>(turn) * classes + i, kMostTurns * classes);
        const Seconds before = regime.times[i];
        if (regime.is_full) {
          RINGSIDE_TRY(regime.times[i], steady_time(i, regime.rates[i]));
        } else {
          RINGSIDE_TRY(const Filling* one, filling(i, regime.rates[i]));
          regime.times[i] = one->end;
          regime.spans[i] = one->lines;
        }
        is_settled =
            is_settled && std::chrono::abs(regime.times[i] - before) <= kSettled * regime.times[i];
      }
      if (is_settled) return {};
      use_links(regime);
    }
    return {};
  }

  /// rate_on(link, lines)  returns the rate of each line on the link
  template <typename RateOn>
  [[nodiscard]] KindRates rates_of(std::size_t of_class, const RateOn& rate_on) const {
    const FlowClass& one = kinds_.classes[of_class];
    KindRates rates(one.crossed.size(), kInfinity);
    for (std::size_t kind = 0; kind < rates.size(); ++kind) {
      for (const int number : one.crossed[kind]) {
        const AlikeLinks& link = kinds_.links[static_cast<std::size_t>(number)];
        const LinesOver lines{static_cast<int>(of_class), static_cast<int>(kind), 1};
        rates[kind] = std::min(rates[kind], rate_on(link, lines));
      }
    }
    return rates;
  }

  [[nodiscard]] std::vector<LinkUsers> users_of_links(const Regime& regime) const {
    std::vector<LinkUsers> all_users;
    all_users.reserve(kinds_.links.size());
    std::vector<LinkUser> users;
    for (std::size_t number = 0; number < kinds_.links.size(); ++number) {
      users.clear();
      for (const LinesOver& lines : kinds_.links[number].lines) {
        const auto of_class = static_cast<std::size_t>(lines.of_class);
        const auto kind = static_cast<std::size_t>(lines.kind);
        const FlowShape& shape = shape_of(lines.of_class);
        const double all = regime.times[of_class].count();
        LinkUser user{.shape = shape_numbers_[of_class],
                      .kind = lines.kind,
                      .count = static_cast<double>(lines.count)};
        user.use = bytes_of(lines) * (regime.is_full ? 1 : shape.first) / all;
        user.active = std::min(1.0, user.use / regime.rates[of_class][kind]);
        if (!regime.is_full) {
          user.span = regime.spans[of_class][kind];
          const double length = user.span.last - user.span.first;
          user.active = length > 0 ? std::min(1.0, user.active * all / length) : 1;
        }
        users.push_back(user);
      }
      all_users.emplace_back(users, !regime.is_full);
    }
    return all_users;
  }

  /// Computes new rates from the current times. Lines of one kind carry data at the same times and then share the
  /// link. Other lines meet them at random, or in empty pipelines when their time spans overlap. Each rate becomes the
  /// geometric mean of the old and the new one, which damps oscillations.
  void use_links(Regime& regime) const {
    const std::vector<LinkUsers> users = users_of_links(regime);
    for (std::size_t i = 0; i < kinds_.classes.size(); ++i) {
      const KindRates now = rates_of(i, [&](const AlikeLinks& link, const LinesOver& mine) {
        const LineSpan own =
            regime.is_full ? LineSpan{} : regime.spans[i][static_cast<std::size_t>(mine.kind)];
        const auto number = static_cast<std::size_t>(&link - kinds_.links.data());
        const LinkUsers::Sharing with = users[number].sharing(shape_numbers_[i], mine.kind, own);
        const double fair = link.rate / (with.together + with.others);
        if (!regime.is_full) return fair;
        return std::max(fair, (link.rate - with.elsewhere) / with.together);
      });
      for (std::size_t kind = 0; kind < now.size(); ++kind) {
        if (std::isinf(now[kind])) continue;
        regime.rates[i][kind] = std::sqrt(regime.rates[i][kind] * now[kind]);
      }
    }
  }

  /// Returns the time of the class's bytes at these rates, without filling and draining; at least the time that its
  /// links need.
  Result<Seconds> steady_time(std::size_t of_class, const KindRates& rates) {
    const FlowShape& shape = *kinds_.classes[of_class].shape;
    const Seconds least{1 / shares_[of_class]};
    if (shape.loops == 0) return least;
    const auto [place, is_new] = paces_.try_emplace({&shape, rounded(rates)}, Seconds{});
    if (is_new) {
      const std::int64_t some = std::min(shape.loops, 2 * kFirstLoops * shape.turns);
      const std::int64_t half = some / 2;
      RINGSIDE_TRY(const LinesRun longer, run(shape, rates, some));
      LinesRun brief{};
      const bool is_long = some == 2 * kFirstLoops * shape.turns;
      if (is_long) {
        RINGSIDE_TRY(brief, run(shape, rates, half));
      }
      const auto loops = static_cast<double>(is_long ? half : some);
      place->second = (longer.end - brief.end) / loops * static_cast<double>(shape.loops);
    }
    return std::max(place->second, least);
  }

  Result<const Filling*> filling(std::size_t of_class, const KindRates& rates) {
    const FlowShape& shape = *kinds_.classes[of_class].shape;
    const auto [place, is_new] = fillings_.try_emplace({&shape, rounded(rates)});
    if (is_new) {
      RINGSIDE_TRY(place->second, run(shape, rates, shape.turns));
    }
    return &place->second;
  }

  /// Returns the time of the whole call. At most one loop runs through empty pipelines; the others follow at the pace
  /// of full ones, or of the links that they fill. In the other limit, the busiest link is never idle between its
  /// first and last message. If links are the limit, loops fill the gaps that others leave, and the real time lies
  /// between the two: the middle is within some per cent of the event simulation (tests/sim/flow_test.cpp).
  Result<Seconds> time_of(std::size_t of_class) {
    const FlowShape& shape = *kinds_.classes[of_class].shape;
    if (shape.loops == 0) return Seconds{};
    RINGSIDE_TRY(const Filling* brief, filling(of_class, full_.rates[of_class]));
    RINGSIDE_TRY(const Seconds whole, run_whole(shape, full_.rates[of_class]));
    const Seconds carried{(1 - shape.first) / shares_[of_class]};
    const Seconds paced = std::max(whole - brief->end, carried);
    const Seconds most = empty_.times[of_class] + paced;
    if (paced <= Seconds{}) return most;
    const Seconds least = std::min(most, without_idling(of_class));
    const double by_links = carried / paced;
    return most - by_links * by_links * (most - least) / 2;
  }

  /// Returns the longest time that a link needs for its bytes, plus the time of one loop before and after it.
  [[nodiscard]] Seconds without_idling(std::size_t of_class) const {
    Seconds longest{};
    for (const std::vector<int>& crossed : kinds_.classes[of_class].crossed) {
      for (const int number : crossed) {
        const AlikeLinks& link = kinds_.links[static_cast<std::size_t>(number)];
        LineSpan used;
        for (const LinesOver& lines : link.lines) {
          const LineSpan& span = empty_.spans[static_cast<std::size_t>(lines.of_class)]
                                             [static_cast<std::size_t>(lines.kind)];
          used.first = std::min(used.first, span.first);
          used.last = std::max(used.last, span.last);
        }
        const Seconds elsewhere = empty_.times[of_class] - Seconds{used.last - used.first};
        longest =
            std::max(longest, Seconds{link.load / link.rate} + std::max(Seconds{}, elsewhere));
      }
    }
    return longest;
  }

  [[nodiscard]] Result<LinesRun> run(const FlowShape& shape, const KindRates& rates,
                                     std::int64_t loops) const {
    EventJob job = shape.job;
    for (std::size_t i = 0; i < rates.size(); ++i) job.lines[i].rate = rates[i];
    SimRequest alone = request_;
    alone.progress = {};
    alone.costs.launch = {};
    return run_lines(alone, std::move(job), loops);
  }

  /// Runs all loops, or as many as needed until each further loop takes as long as the one before.
  [[nodiscard]] Result<Seconds> run_whole(const FlowShape& shape, const KindRates& rates) const {
    std::int64_t some = kFirstLoops * shape.turns;
    Seconds before{};
    Seconds pace_before{};
    bool is_steady = false;
    while (some < shape.loops && shape.steps_a_loop * shape.loops > kMostSteps) {
      RINGSIDE_TRY(const LinesRun now, run(shape, rates, some));
      const Seconds pace = (now.end - before) / (static_cast<double>(some) / 2);
      const bool was_steady =
          std::exchange(is_steady, std::abs((pace - pace_before) / pace) <= kSteady);
      if (is_steady && (was_steady || shape.steps_a_loop * some > kMostSteps)) {
        return now.end + pace * static_cast<double>(shape.loops - some);
      }
      before = now.end;
      pace_before = pace;
      some *= 2;
    }
    RINGSIDE_TRY(const LinesRun all, run(shape, rates, shape.loops));
    return all.end;
  }

  const SimRequest& request_;
  const FlowKinds& kinds_;
  const std::function<void(double)>& on_progress_;
  std::vector<int> shape_numbers_;  ///< [class]: classes of one shape have one number
  std::vector<double> shares_;      ///< [class]: share of its bytes per second
  Regime full_;
  Regime empty_{.is_full = false};
  using ByRates = std::pair<const FlowShape*, std::vector<std::int64_t>>;
  std::map<ByRates, Seconds> paces_;
  std::map<ByRates, Filling> fillings_;
};

}  // namespace

Result<Seconds> time_by_chance(const SimRequest& request, const FlowKinds& kinds,
                               const std::function<void(double)>& on_progress) {
  return ChanceEngine(request, kinds, on_progress).run();
}

}  // namespace ringside

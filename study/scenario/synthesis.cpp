#include "study/scenario/synthesis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "harness/hangs/outline_yaml.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"
#include "study/interchange/merge_sequences.h"
#include "study/interchange/recorded_dumps.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using hangs::Step;

using CallSequence = std::vector<RecordedCall>;

// Limits of the search: each suspect has up to 4 trials a place, and each trial is a simulation of all ranks.
constexpr std::size_t kMostSuspects = 128;
constexpr std::size_t kMostPlaces = 12;  ///< of a fault in a rank's calls
constexpr std::size_t kMostShown = 8;    ///< hypotheses

/// A misfit of 1, which is a call in another state, makes a fault exp(kCost) times less likely. Not fitted: where dumps
/// are whole, a call in another state nearly excludes a fault.
constexpr double kCost = 2;
/// The misfit of a call that the culprit made beyond the calls that others needed: it is weak evidence.
constexpr double kExtra = 0.25;

bool is_transfer(const RecordedCall& call) { return call.step.kind == OutlineStep::Kind::Transfer; }

/// Returns whether the calls are equal apart from their numbers.
bool looks_like(const RecordedCall& a, const RecordedCall& b) {
  return a.group == b.group && a.step.kind == b.step.kind && a.step.op == b.step.op &&
         a.step.count == b.step.count && a.step.type == b.step.type && a.step.from == b.step.from &&
         a.step.to == b.step.to;
}

/// Returns how two calls of one number differ.
HangClass difference(const RecordedCall& a, const RecordedCall& b) {
  if (is_transfer(a) || is_transfer(b)) return HangClass::P2pUnmatched;
  if (a.step.op != b.step.op) return HangClass::OpMismatch;
  if (a.step.type != b.step.type) return HangClass::DtypeMismatch;
  if (a.step.count != b.step.count) return HangClass::ShapeMismatch;
  return HangClass::RootMismatch;
}

/// A fault hypothesis to simulate.
struct Trial {
  HangClass kind = HangClass::Unknown;
  int culprit = -1;    ///< -1: none
  CallSequence calls;  ///< the culprit's
  bool halts = false;
  double extra = 0;  ///< additional misfit: calls that the fault does not explain
  hangs::NetworkFault network = {};
  std::string what;
};

class Synthesis {
 public:
  explicit Synthesis(const hang::Examination& evidence)
      : recorded_(recorded_dumps(evidence)), job_(recorded_.job) {
    // Log lines show how far a rank came, but not that it is alive: if others have dumps, a rank that only has lines
    // counts as silent.
    const auto has_dump = [&](int rank) { return !evidence.job->rank(rank).is_from_log; };
    bool is_any_dump = false;
    for (int rank = 0; rank < world(); ++rank) is_any_dump |= !is_silent(rank) && has_dump(rank);
    for (int rank = 0; rank < world(); ++rank) {
      if (is_any_dump && !has_dump(rank)) job_.ranks[at(rank)].is_silent = true;
    }
    hangs::Outline outline = hangs::outline_of("tail", world(), 1, 1);
    SequenceMerger merger(job_, outline);
    merger.align_transfers();
    merger.emit_common(0);
    for (RecordedRank& own : job_.ranks) {
      tails_.emplace_back(own.calls.begin(), own.calls.end());
    }
    for (int rank = 0; rank < world(); ++rank) {
      for (const RecordedCall& call : tails_[at(rank)]) {
        if (is_transfer(call)) continue;
        auto& first = first_.try_emplace(call.group, call.number).first->second;
        first = std::min(first, call.number);
        made_[{call.group, call.number}].emplace_back(rank, &call);
      }
    }
  }

  std::vector<Hypothesis> run() {
    const bool is_any_pending = std::ranges::any_of(tails_, [](const CallSequence& calls) {
      return std::ranges::any_of(calls, &RecordedCall::is_pending);
    });
    if (!is_any_pending) return {};
    std::vector<Hypothesis> all;
    for (const Trial& trial : trials()) {
      all.push_back(
          {.kind = trial.kind,
           .culprits = trial.culprit < 0 ? std::vector<int>{} : std::vector{trial.culprit},
           .misfit = misfit(trial),
           .what = trial.what});
    }
    return weighed(std::move(all));
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  [[nodiscard]] int world() const { return static_cast<int>(job_.ranks.size()); }
  [[nodiscard]] const RecordedGroup& group(int number) const { return job_.groups[at(number)]; }
  [[nodiscard]] bool is_silent(int rank) const { return job_.ranks[at(rank)].is_silent; }

  [[nodiscard]] std::string text_of(const RecordedCall& call) const {
    const RecordedGroup& own = group(call.group);
    return fmt::format("{} of {}", is_transfer(call) ? "transfer" : hangs::to_string(call.step.op),
                       own.description.empty() ? own.name : own.description);
  }

  // ---- what a rank was to call ---------------------------------------------------------------------------------

  /// Returns the calls of the other members of its groups that need the rank: of each number the most frequent one.
  [[nodiscard]] CallSequence demanded(int rank) const {
    std::map<std::pair<int, std::int64_t>, std::vector<RecordedCall>> votes;
    CallSequence transfers;
    for (int other = 0; other < world(); ++other) {
      if (other == rank) continue;
      for (const RecordedCall& call : tails_[at(other)]) {
        if (group(call.group).index_of(rank) < 0) continue;
        if (!is_transfer(call)) {
          votes[{call.group, call.number}].push_back(call);
          continue;
        }
        const int self = group(call.group).index_of(rank);
        if (call.step.from == self || call.step.to == self) transfers.push_back(call);
      }
    }
    CallSequence all;
    for (const auto& [key, calls] : votes) {
      const auto like = [&](const RecordedCall& one) {
        return std::ranges::count_if(
            calls, [&](const RecordedCall& call) { return looks_like(one, call); });
      };
      all.push_back(*std::ranges::max_element(calls, {}, like));
    }
    all.insert(all.end(), transfers.begin(), transfers.end());
    for (RecordedCall& call : all) call.is_pending = false;
    return all;
  }

  static bool is_same_place(const RecordedCall& a, const RecordedCall& b) {
    return a.group == b.group && a.number == b.number && is_transfer(a) == is_transfer(b) &&
           (!is_transfer(a) || (a.step.from == b.step.from && a.step.to == b.step.to));
  }

  /// Returns the demanded calls in the order of `model`, whose groups are the rank's or similar ones; a call that it
  /// lacks is placed after its neighbour in the group.
  [[nodiscard]] CallSequence ordered(CallSequence demanded, const CallSequence& model) const {
    CallSequence all;
    for (const RecordedCall& one : model) {
      const auto found = std::ranges::find_if(demanded, [&](const RecordedCall& call) {
        return is_transfer(call) == is_transfer(one) && call.number == one.number &&
               group(call.group).description == group(one.group).description &&
               group(call.group).members.size() == group(one.group).members.size() &&
               (!is_transfer(one) || is_same_place(call, one));
      });
      if (found == demanded.end()) continue;
      all.push_back(*found);
      demanded.erase(found);
    }
    for (RecordedCall& call : demanded) {
      auto place = all.end();
      for (auto one = all.begin(); one != all.end(); ++one) {
        if (one->group != call.group || is_transfer(*one) != is_transfer(call)) continue;
        if (one->number < call.number) place = one + 1;
        if (one->number > call.number) {
          place = std::min(place, one);
          break;
        }
      }
      all.insert(place, std::move(call));
    }
    return all;
  }

  /// Returns the other rank that made the most calls. Its calls are a second model of the order of the rank's calls.
  [[nodiscard]] std::optional<int> busiest_other(int rank) const {
    std::optional<int> best;
    for (int other = 0; other < world(); ++other) {
      if (other == rank || tails_[at(other)].empty()) continue;
      if (!best || tails_[at(other)].size() > tails_[at(*best)].size()) best = other;
    }
    return best;
  }

  // ---- what could have gone wrong ------------------------------------------------------------------------------

  [[nodiscard]] std::vector<Trial> trials() const {
    std::vector<Trial> all;
    std::size_t suspects = 0;
    for (int rank = 0; rank < world() && suspects < kMostSuspects; ++rank) {
      const CallSequence needed = demanded(rank);
      if (needed.empty() && tails_[at(rank)].empty()) continue;
      ++suspects;
      add_trials(rank, ordered(needed, tails_[at(rank)]), all);
      if (const auto other = busiest_other(rank)) {
        add_trials(rank, ordered(needed, tails_[at(*other)]), all);
      }
    }
    add_stalls(all);
    return all;
  }

  /// script  the calls that the rank was to make
  void add_trials(int rank, const CallSequence& script, std::vector<Trial>& all) const {
    add_halts(rank, script, all);
    if (!is_silent(rank)) add_changes(rank, script, all);
  }

  /// Adds the faults in which the rank stops before one of its first calls, or, if it is silent, at the end.
  void add_halts(int rank, const CallSequence& script, std::vector<Trial>& all) const {
    for (std::size_t k = 0; k <= std::min(script.size(), kMostPlaces); ++k) {
      const bool is_end = k == script.size();
      if (is_end && !is_silent(rank)) break;
      const std::string what = is_end ? "stops" : "does not reach " + text_of(script[k]);
      all.push_back(
          {.kind = is_silent(rank) ? HangClass::DeadRank : HangClass::MissingRank,
           .culprit = rank,
           .calls = CallSequence(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(k)),
           .halts = true,
           .what = fmt::format("rank {} {}", rank, what)});
    }
  }

  /// Adds the faults in which the rank makes other calls than those of the script: one less, one more, two in another
  /// order, or another call in the place of one.
  void add_changes(int rank, const CallSequence& script, std::vector<Trial>& all) const {
    const CallSequence& made = tails_[at(rank)];
    const auto add = [&](HangClass kind, CallSequence calls, const std::string& what) {
      const double extra =
          made.size() > calls.size() ? static_cast<double>(made.size() - calls.size()) : 0;
      calls = as_far_as(std::move(calls), made);
      // A fault that changes none of the calls that were made would be invisible.
      const auto due = std::span(script).first(std::min(script.size(), calls.size()));
      if (std::ranges::equal(calls, due, looks_like)) return;
      all.push_back({.kind = kind,
                     .culprit = rank,
                     .calls = std::move(calls),
                     .extra = kExtra * extra,
                     .what = fmt::format("rank {} {}", rank, what)});
    };
    for (std::size_t k = 0; k < std::min(script.size(), kMostPlaces); ++k) {
      const auto place = static_cast<std::ptrdiff_t>(k);
      const HangClass by_number =
          is_transfer(script[k]) ? HangClass::P2pUnmatched : HangClass::DivergedControlFlow;
      CallSequence shorter = script;
      shorter.erase(shorter.begin() + place);
      add(by_number, shorter, "skips " + text_of(script[k]));
      CallSequence twice = script;
      twice.insert(twice.begin() + place, script[k]);
      add(by_number, twice, "makes one call more: " + text_of(script[k]));
      if (k + 1 < script.size() && !looks_like(script[k], script[k + 1])) {
        CallSequence swapped = script;
        std::swap(swapped[k], swapped[k + 1]);
        const bool is_across = script[k].group != script[k + 1].group;
        add(is_across ? HangClass::DeadlockCycle : HangClass::OrderMismatch, swapped,
            fmt::format("makes {} before {}", text_of(script[k + 1]), text_of(script[k])));
      }
      if (k < made.size() && made[k].group == script[k].group && !looks_like(made[k], script[k])) {
        CallSequence changed = script;
        changed[k].step = made[k].step;
        add(difference(made[k], script[k]), changed,
            fmt::format("calls {} where {} is due", text_of(made[k]), text_of(script[k])));
      }
    }
  }

  /// Returns as many calls as the rank made by its own record. Calls beyond those that others needed are known only from
  /// that record.
  static CallSequence as_far_as(CallSequence calls, const CallSequence& made) {
    if (calls.size() > made.size()) calls.resize(made.size());
    calls.insert(calls.end(), made.begin() + static_cast<std::ptrdiff_t>(calls.size()), made.end());
    return calls;
  }

  /// Adds the faults without a culprit: all ranks are in a call, and it hangs.
  void add_stalls(std::vector<Trial>& all) const {
    std::set<std::pair<int, std::int64_t>> tried;
    for (int rank = 0; rank < world(); ++rank) {
      for (const RecordedCall& call : tails_[at(rank)]) {
        if (!call.is_pending || is_transfer(call) || !are_all_in(call)) continue;
        if (!tried.insert({call.group, call.number}).second) continue;
        all.push_back(
            {.kind = HangClass::NetworkStall,
             .culprit = -1,
             .calls = {},
             .network = {call.group, static_cast<int>(call.number - first_of(call.group)) + 1},
             .what = "nothing moves in " + text_of(call)});
        break;  // later calls hang because of it
      }
    }
  }

  /// Returns whether every member with a recording has made the call, and the same one: otherwise it hangs without a
  /// network fault.
  [[nodiscard]] bool are_all_in(const RecordedCall& call) const {
    const auto& calls = made_.at({call.group, call.number});
    const auto recorded = std::ranges::count_if(group(call.group).members,
                                                [this](int rank) { return !is_silent(rank); });
    return std::cmp_greater_equal(calls.size(), recorded) &&
           std::ranges::all_of(calls,
                               [&](const auto& one) { return looks_like(*one.second, call); });
  }

  /// Returns the number of the group's oldest call in the tails; 0: it has none.
  [[nodiscard]] std::int64_t first_of(int group) const {
    const auto found = first_.find(group);
    return found == first_.end() ? 0 : found->second;
  }

  // ---- what it would leave -------------------------------------------------------------------------------------

  [[nodiscard]] Step step_of(const RecordedCall& call, int rank) const {
    Step step;
    step.kind = Step::Kind::Call;
    step.op = call.step.op;
    step.type = call.step.type;
    step.count = call.step.count;
    step.group = call.group;
    step.peer = call.step.from;
    if (is_transfer(call)) {
      const bool is_sender = group(call.group).index_of(rank) == call.step.from;
      step.op = is_sender ? Op::Send : Op::Recv;
      step.peer = is_sender ? call.step.to : call.step.from;
    } else if (!hangs::has_root(step.op)) {
      step.peer = 0;
    }
    return step;
  }

  [[nodiscard]] hangs::Program program_of(const Trial& trial) const {
    hangs::Program program;
    program.ranks = world();
    for (std::size_t i = 0; i < job_.groups.size(); ++i) {
      program.groups.push_back({job_.groups[i].name, job_.groups[i].description,
                                job_.groups[i].members, static_cast<int>(i)});
      program.families.push_back(job_.groups[i].name);
    }
    for (int rank = 0; rank < world(); ++rank) {
      hangs::RankProgram own;
      own.iterations = 1;
      std::vector<int> groups;
      for (std::size_t i = 0; i < job_.groups.size(); ++i) {
        groups.push_back(job_.groups[i].index_of(rank) >= 0 ? static_cast<int>(i) : -1);
      }
      program.group_of.push_back(std::move(groups));
      // The calls of other silent ranks are unknown: they make the calls demanded of them.
      const bool is_culprit = rank == trial.culprit;
      const CallSequence calls = is_culprit        ? trial.calls
                                 : is_silent(rank) ? ordered(demanded(rank), {})
                                                   : tails_[at(rank)];
      for (const RecordedCall& call : calls) own.body.push_back(step_of(call, rank));
      if (is_culprit && trial.halts) {
        Step end;
        end.kind = Step::Kind::Halt;
        end.halt = is_silent(rank) ? hangs::Halt::Killed : hangs::Halt::WaitsElsewhere;
        own.body.push_back(end);
      }
      program.programs.push_back(std::move(own));
    }
    return program;
  }

  /// Returns the misfit that other faults must explain: groups in which the others' calls differ, and silent ranks.
  [[nodiscard]] double unexplained(const Trial& trial) const {
    std::set<int> differing;
    for (const auto& [key, calls] : made_) {
      const RecordedCall* other = nullptr;
      for (const auto& [rank, call] : calls) {
        if (rank == trial.culprit) continue;
        if (other != nullptr && !looks_like(*other, *call)) differing.insert(key.first);
        other = call;
      }
    }
    const bool is_any_silent =
        std::ranges::any_of(job_.ranks, [](const RecordedRank& one) { return one.is_silent; });
    const bool is_explained = trial.culprit >= 0 && is_silent(trial.culprit);
    return static_cast<double>(differing.size()) + (is_any_silent && !is_explained ? 1 : 0);
  }

  /// Returns the number of calls whose state would differ from the recorded one, of ranks without a reason to stop, and
  /// of observations that need a fault of their own.
  [[nodiscard]] double misfit(const Trial& trial) const {
    const hangs::Program program = program_of(trial);
    const hangs::Play play = hangs::play(program, trial.network, 1, {.call = {}, .is_even = true});
    double sum = trial.extra + unexplained(trial);
    for (int rank = 0; rank < world(); ++rank) {
      if (is_silent(rank)) continue;
      const CallSequence& made = tails_[at(rank)];
      const std::vector<hangs::Record>& records = play.ranks[at(rank)].records;
      const bool is_culprit = rank == trial.culprit;
      bool waits = false;
      for (std::size_t i = 0; i < std::max(made.size(), records.size()); ++i) {
        if (i >= made.size() || i >= records.size()) {
          sum += 1;
          continue;
        }
        const bool is_pending = records[i].completed == hangs::kNever;
        waits = waits || is_pending;
        const bool is_it = !is_culprit || looks_like(trial.calls[i], made[i]);
        if (!is_it || is_pending != made[i].is_pending) sum += 1;
      }
      // A rank that is blocked in a call is not elsewhere, and a rank that is blocked in none has a reason of its
      // own.
      if (waits == (is_culprit && trial.halts)) sum += 1;
    }
    return sum;
  }

  /// Returns the best hypothesis of each kind and culprit with its likelihood, the likeliest first.
  static std::vector<Hypothesis> weighed(std::vector<Hypothesis> all) {
    std::map<std::pair<HangClass, std::vector<int>>, Hypothesis> best;
    for (Hypothesis& one : all) {
      const auto [place, is_new] = best.try_emplace({one.kind, one.culprits}, one);
      if (!is_new && one.misfit < place->second.misfit) place->second = std::move(one);
    }
    std::vector<Hypothesis> kept;
    for (auto& [key, one] : best) kept.push_back(std::move(one));
    std::ranges::stable_sort(kept, {}, &Hypothesis::misfit);
    double sum = 0;
    for (Hypothesis& one : kept) {
      one.likelihood = std::exp(-kCost * (one.misfit - kept.front().misfit));
      sum += one.likelihood;
    }
    for (Hypothesis& one : kept) one.likelihood /= sum;
    if (kept.size() > kMostShown) kept.resize(kMostShown);
    return kept;
  }

  RecordedDumps recorded_;
  RecordedJob& job_;
  std::vector<CallSequence> tails_;  ///< by rank: from the last call that all made on
  /// Collectives of the tails by group and number, with their ranks.
  std::map<std::pair<int, std::int64_t>, std::vector<std::pair<int, const RecordedCall*>>> made_;
  std::map<int, std::int64_t> first_;  ///< by group: the oldest number in the tails
};

}  // namespace

std::vector<Hypothesis> synthesize(const hang::Examination& evidence) {
  if (evidence.job == nullptr || evidence.dumps.empty()) return {};
  if (evidence.verdict.best.kind == HangClass::NotAHang) return {};
  return Synthesis(evidence).run();
}

const char* to_string(Support support) {
  switch (support) {
    case Support::Agrees:
      return "agrees";
    case Support::Undecided:
      return "undecided";
    case Support::Differs:
      return "differs";
    case Support::Nothing:
      break;
  }
  return "nothing";
}

Support support_of(const hang::Explanation& verdict, const std::vector<Hypothesis>& tried) {
  // Half as likely as the best is as likely: one call in another state would make it a seventh, exp(-kCost).
  constexpr double kAsLikely = 0.5;
  if (tried.empty()) return Support::Nothing;
  const Hypothesis& best = tried.front();
  const bool is_undecided = std::ranges::any_of(tried, [&](const Hypothesis& one) {
    return one.culprits != best.culprits && one.likelihood > kAsLikely * best.likelihood;
  });
  if (is_undecided) return Support::Undecided;
  if (best.culprits == verdict.culprits) return Support::Agrees;
  // Synthesis does not contradict the verdict if it leaves calls unexplained, or tries one rank at a time where the
  // verdict names several.
  const bool is_part =
      std::ranges::includes(verdict.culprits, best.culprits) && !best.culprits.empty();
  return best.misfit < 1 && !is_part ? Support::Differs : Support::Undecided;
}

}  // namespace ringside::study

#include "study/interchange/merge_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace ringside::study {
namespace {

using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

/// The same but for what clocks make of it.
bool is_alike(const OutlineStep& a, const OutlineStep& b) {
  constexpr double kNear = 0.005;
  constexpr double kTick = 2000;  // ns
  const auto ta = static_cast<double>(a.time.count());
  const auto tb = static_cast<double>(b.time.count());
  const bool is_near = std::abs(ta - tb) <= std::max(kTick, kNear * std::max(ta, tb));
  return a.kind == b.kind && a.family == b.family && a.is_of_family == b.is_of_family && is_near;
}

/// The job's own group; others of all ranks are communicators beside it.
std::size_t group_of_all(const RecordedJob& job) {
  std::size_t found = job.groups.size();
  for (std::size_t i = 0; i < job.groups.size(); ++i) {
    const RecordedGroup& group = job.groups[i];
    if (group.members.size() != job.ranks.size()) continue;
    if (group.description == "default_pg" || group.name == "0") return i;
    found = std::min(found, i);
  }
  return found;
}

}  // namespace

SequenceMerger::SequenceMerger(RecordedJob& job, hangs::Outline& outline)
    : job_(job), outline_(outline), made_(job.ranks.size()) {
  const std::size_t all = group_of_all(job);
  for (std::size_t i = 0; i < job.groups.size(); ++i) {
    family_of_.push_back(i == all ? 0 : add_family(job.groups[i]));
  }
  const auto place = [&](Steps& steps) {
    for (OutlineStep& step : steps) {
      if (step.is_of_family) step.family = family_of(step.family);
    }
  };
  for (RecordedRank& own : job.ranks) {
    for (RecordedCall& call : own.calls) {
      call.step.family = family_of(call.group);
      place(call.before);
    }
    place(own.after);
  }
}

int SequenceMerger::add_family(const RecordedGroup& group) {
  const std::string name =
      word_of(group.description.empty() ? "group_" + group.name : group.description);
  const auto shares = [&](const hangs::Family& family) {
    return std::ranges::any_of(family.members, [&](const std::vector<int>& members) {
      return std::ranges::any_of(members, [&](int rank) { return group.index_of(rank) >= 0; });
    });
  };
  for (int number = 0;; ++number) {
    const std::string wanted =
        number == 0 && name != "world" ? name : fmt::format("{}_{}", name, number + 1);
    const auto found = std::ranges::find(outline_.families, wanted, &hangs::Family::name);
    if (found == outline_.families.end()) {
      outline_.families.push_back({wanted, group.description, {group.members}});
      return static_cast<int>(outline_.families.size()) - 1;
    }
    if (shares(*found)) continue;
    found->members.push_back(group.members);
    return static_cast<int>(found - outline_.families.begin());
  }
}

namespace {

using Way = std::tuple<int, int, int>;  // group, from, to

Way way_of(const RecordedCall& call) { return {call.group, call.step.from, call.step.to}; }

bool is_uncounted(const RecordedCall& call) {
  return call.step.kind == OutlineKind::Transfer && !call.is_counted;
}

/// The numbers of one end from `first` on.
std::vector<std::int64_t> tail_of(const std::vector<std::int64_t>& numbers, std::int64_t first) {
  return {std::ranges::lower_bound(numbers, first), numbers.end()};
}

/// Whether two ends give the transfers that both have the same numbers.
/// numbers  ascending
bool are_alike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  constexpr std::size_t kEnough = 3;
  if (a.empty() || b.empty()) return false;
  const std::int64_t first = std::max(a.front(), b.front());
  const std::vector<std::int64_t> ours = tail_of(a, first);
  const std::vector<std::int64_t> theirs = tail_of(b, first);
  const std::size_t common = std::min(ours.size(), theirs.size());
  return common >= kEnough &&
         std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(common),
                    theirs.begin());
}

}  // namespace

void SequenceMerger::number_by_sequence() {
  std::map<Way, std::map<int, std::vector<std::int64_t>>> ends;  // by rank
  for (int number = 0; number < world(); ++number) {
    for (const RecordedCall& call : rank(number).calls) {
      if (is_uncounted(call) && call.sequence > 0)
        ends[way_of(call)][number].push_back(call.sequence);
    }
  }
  std::map<Way, std::int64_t> firsts;
  for (const auto& [way, own] : ends) {
    if (own.size() != 2) continue;
    const auto& a = own.begin()->second;
    const auto& b = own.rbegin()->second;
    if (are_alike(a, b)) firsts[way] = std::max(a.front(), b.front());
  }
  for (RecordedRank& own : job_.ranks) {
    std::erase_if(own.calls, [&](RecordedCall& call) {
      const auto first = is_uncounted(call) ? firsts.find(way_of(call)) : firsts.end();
      if (first == firsts.end()) return false;
      call.number = call.sequence;
      call.is_counted = true;
      return call.number < first->second;
    });
  }
}

void SequenceMerger::align_transfers() {
  number_by_sequence();
  std::map<Way, std::int64_t> oldest;
  for (RecordedRank& own : job_.ranks) {
    std::map<Way, std::int64_t> done;
    for (const RecordedCall& call : own.calls) {
      if (is_uncounted(call) && !call.is_pending) ++done[way_of(call)];
    }
    std::map<Way, std::int64_t> seen;
    for (RecordedCall& call : own.calls) {
      if (is_uncounted(call)) call.number = seen[way_of(call)]++ - done[way_of(call)];
    }
    for (const auto& [way, count] : seen) {
      const auto [place, is_new] = oldest.try_emplace(way, -done[way]);
      place->second = std::max(place->second, -done[way]);
    }
  }
  for (RecordedRank& own : job_.ranks) {
    std::erase_if(own.calls, [&](const RecordedCall& call) {
      return is_uncounted(call) && call.number < oldest[way_of(call)];
    });
  }
}

std::vector<int> SequenceMerger::parties(const RecordedCall& call) const {
  const std::vector<int>& members = job_.groups[static_cast<std::size_t>(call.group)].members;
  if (call.step.kind != OutlineKind::Transfer) return members;
  const auto at = [&](int index) { return members[static_cast<std::size_t>(index)]; };
  const int last = static_cast<int>(members.size()) - 1;
  return {at(std::min(call.step.from, last)), at(std::min(call.step.to, last))};
}

std::optional<std::size_t> SequenceMerger::next_like(const RecordedRank& own,
                                                     const RecordedCall& call) {
  if (own.calls.empty()) return std::nullopt;
  for (std::size_t i = 0; i < own.set_length(0); ++i) {
    if (own.calls[i].is_same(call)) return i;
  }
  return std::nullopt;
}

/// Whether every member that was heard has the call in front of it, and as done.
bool SequenceMerger::is_common(const RecordedCall& call) {
  return std::ranges::all_of(parties(call), [&](int number) {
    if (rank(number).is_silent) return true;
    const auto own = next_like(rank(number), call);
    return own && !rank(number).calls[*own].is_pending;
  });
}

void SequenceMerger::emit(const OutlineStep& step, const std::vector<int>& ranks) {
  outline_.steps.push_back(step);
  for (const int number : ranks) ++made_[static_cast<std::size_t>(number)];
}

std::size_t SequenceMerger::emit_common(std::size_t keep) {
  std::deque<std::vector<Common>> rounds;
  std::size_t left_out = 0;
  for (;;) {
    std::vector<Common> round;
    std::vector<bool> is_busy(job_.ranks.size());
    const auto busy = [&](int number) { return is_busy[static_cast<std::size_t>(number)]; };
    for (int number = 0; number < world(); ++number) {
      if (busy(number) || rank(number).calls.empty()) continue;
      const std::deque<RecordedCall>& own = rank(number).calls;
      const auto next = own.begin() + static_cast<std::ptrdiff_t>(rank(number).set_length(0));
      const auto found = std::find_if(own.begin(), next, [&](const RecordedCall& one) {
        return is_common(one) && std::ranges::none_of(parties(one), busy);
      });
      if (found == next) continue;
      Common common{.call = *found};
      for (const int member : parties(common.call)) {
        is_busy[static_cast<std::size_t>(member)] = true;
        if (rank(member).is_silent) continue;
        std::deque<RecordedCall>& theirs = rank(member).calls;
        const auto place = theirs.begin() + static_cast<std::ptrdiff_t>(
                                                next_like(rank(member), common.call).value_or(0));
        common.is_async[member] = place->step.async;
        common.before[member] = std::move(place->before);
        theirs.erase(place);
      }
      round.push_back(std::move(common));
    }
    if (round.empty()) break;
    rounds.push_back(std::move(round));
    if (rounds.size() > keep) {
      rounds.pop_front();
      ++left_out;
    }
  }
  for (std::vector<Common>& round : rounds) emit_round(std::move(round));
  return left_out;
}

/// One step where all groups of a family make the same call, else one for each rank.
void SequenceMerger::emit_round(std::vector<Common> round) {
  while (!round.empty()) {
    const RecordedCall call = round.front().call;
    const auto is_even = [&](const Common& one) {
      return std::ranges::all_of(one.is_async,
                                 [&](const auto& own) { return own.second == call.step.async; });
    };
    const auto is_like = [&](const Common& other) {
      const OutlineStep& step = other.call.step;
      return step.family == call.step.family && step.kind == call.step.kind &&
             step.op == call.step.op && step.count == call.step.count &&
             step.type == call.step.type && step.from == call.step.from &&
             step.to == call.step.to && is_even(other);
    };
    const auto alike = std::ranges::count_if(round, is_like);
    const auto groups =
        outline_.families[static_cast<std::size_t>(call.step.family)].members.size();
    if (static_cast<std::size_t>(alike) == groups) {
      std::vector<int> all;
      std::map<int, Steps> before;
      for (Common& one : round) {
        if (!is_like(one)) continue;
        const std::vector<int> own = parties(one.call);
        all.insert(all.end(), own.begin(), own.end());
        before.merge(one.before);
      }
      emit_before(before, all);
      emit(call.step, all);
      std::erase_if(round, is_like);
      continue;
    }
    emit_before(round.front().before, parties(call));
    for (const int member : parties(call)) {
      OutlineStep own = call.step;
      own.async = round.front().is_async_of(member);
      emit_alone({own}, member);
      ++made_[static_cast<std::size_t>(member)];
    }
    round.erase(round.begin());
  }
}

void SequenceMerger::emit_before(const std::map<int, Steps>& before,
                                 const std::vector<int>& ranks) {
  if (before.empty()) return;
  const Steps& first = before.begin()->second;
  const bool are_alike = std::ranges::all_of(
      before, [&](const auto& one) { return std::ranges::equal(one.second, first, is_alike); });
  const bool are_all =
      std::set<int>(ranks.begin(), ranks.end()).size() == static_cast<std::size_t>(world());
  if (are_alike && are_all) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      OutlineStep step = first[i];
      double sum = 0;
      for (const auto& [number, steps] : before) {
        sum += static_cast<double>(steps[i].time.count());
      }
      step.time = Nanoseconds{std::llround(sum / static_cast<double>(before.size()))};
      outline_.steps.push_back(step);
    }
    return;
  }
  for (const int number : ranks) {
    const auto own = before.find(number);
    emit_alone(own == before.end() ? first : own->second, number);
  }
}

void SequenceMerger::emit_alone(const Steps& steps, int rank) {
  for (OutlineStep step : steps) {
    step.at = OutlineStep::Place{0, rank};
    outline_.steps.push_back(step);
  }
}

void SequenceMerger::emit_set(const Steps& steps, int rank) {
  std::vector<Steps> rounds;
  std::map<std::pair<int, int>, std::size_t> round_of;  // by sender and receiver
  for (const OutlineStep& step : steps) {
    const std::size_t round = round_of[{step.from, step.to}]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(step);
  }
  for (Steps& round : rounds) {
    ++bundles_;
    for (OutlineStep& step : round) step.bundle = bundles_;
    emit_alone(round, rank);
    ++made_[static_cast<std::size_t>(rank)];
  }
}

void SequenceMerger::emit_own() {
  for (int number = 0; number < world(); ++number) {
    const std::deque<RecordedCall>& calls = rank(number).calls;
    for (std::size_t i = 0; i < calls.size();) {
      const std::size_t end = i + rank(number).set_length(i);
      const bool is_set = calls[i].is_of_set;
      Steps steps;
      for (; i < end; ++i) {
        emit_alone(calls[i].before, number);
        steps.push_back(calls[i].step);
      }
      if (is_set) {
        emit_set(steps, number);
      } else {
        emit_alone(steps, number);
        ++made_[static_cast<std::size_t>(number)];
      }
    }
  }
  std::map<int, Steps> after;
  std::vector<int> all;
  for (int number = 0; number < world(); ++number) {
    all.push_back(number);
    if (!rank(number).is_silent) after[number] = std::move(rank(number).after);
  }
  emit_before(after, all);
}

}  // namespace ringside::study

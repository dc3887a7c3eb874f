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

void SequenceMerger::align_transfers() {
  using Way = std::tuple<int, int, int>;  // group, from, to
  const auto way_of = [](const RecordedCall& call) {
    return Way{call.group, call.step.from, call.step.to};
  };
  const auto is_uncounted = [](const RecordedCall& call) {
    return call.step.kind == OutlineKind::Transfer && !call.is_counted;
  };
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

/// Whether every member that was heard has the call in front of it, and as done.
bool SequenceMerger::is_common(const RecordedCall& call) {
  return std::ranges::all_of(parties(call), [&](int number) {
    const RecordedRank& own = rank(number);
    if (own.is_silent) return true;
    return !own.calls.empty() && own.calls.front().is_same(call) && !own.calls.front().is_pending;
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
      if (!is_common(rank(number).calls.front())) continue;
      const RecordedCall call = rank(number).calls.front();
      const std::vector<int> all = parties(call);
      if (std::ranges::any_of(all, busy)) continue;
      Common common{.call = call};
      for (const int member : all) {
        is_busy[static_cast<std::size_t>(member)] = true;
        if (rank(member).is_silent) continue;
        common.is_async[member] = rank(member).calls.front().step.async;
        common.before[member] = std::move(rank(member).calls.front().before);
        rank(member).calls.pop_front();
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

void SequenceMerger::emit_own() {
  for (int number = 0; number < world(); ++number) {
    for (const RecordedCall& call : rank(number).calls) {
      emit_alone(call.before, number);
      emit_alone({call.step}, number);
      ++made_[static_cast<std::size_t>(number)];
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

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

/// Returns true if both steps are equal; kernel times may differ by clock effects.
bool is_alike(const OutlineStep& a, const OutlineStep& b) {
  constexpr double kNear = 0.005;
  constexpr double kTick = 2000;  // ns; Chakra's durations are whole microseconds
  const auto ta = static_cast<double>(a.time.count());
  const auto tb = static_cast<double>(b.time.count());
  const bool is_near = std::abs(ta - tb) <= std::max(kTick, kNear * std::max(ta, tb));
  return a.kind == b.kind && a.family == b.family && a.is_of_family == b.is_of_family && is_near;
}

/// Returns the index of the job's default group of all ranks: PyTorch's by its name or description, else the first group
/// of all ranks; the number of groups if no group has all ranks. Other groups of all ranks are additional communicators.
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

/// The path of a transfer: group, sender, receiver.
using TransferPath = std::tuple<int, int, int>;

TransferPath path_of(const RecordedCall& call) {
  return {call.group, call.step.from, call.step.to};
}

/// Returns true for a transfer that its recorder did not number.
bool is_uncounted(const RecordedCall& call) {
  return call.step.kind == OutlineKind::Transfer && !call.is_counted;
}

/// Returns the numbers of one end from `first` on.
std::vector<std::int64_t> tail_of(const std::vector<std::int64_t>& numbers, std::int64_t first) {
  return {std::ranges::lower_bound(numbers, first), numbers.end()};
}

/// Returns true if both ends gave equal numbers to the transfers that both have recorded.
/// numbers  ascending
bool are_alike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  constexpr std::size_t kEnough = 3;  // one or two may agree by chance
  if (a.empty() || b.empty()) return false;
  const std::int64_t first = std::max(a.front(), b.front());
  const std::vector<std::int64_t> ours = tail_of(a, first);
  const std::vector<std::int64_t> theirs = tail_of(b, first);
  const std::size_t common = std::min(ours.size(), theirs.size());
  return common >= kEnough &&
         std::equal(ours.begin(), ours.begin() + static_cast<std::ptrdiff_t>(common),
                    theirs.begin());
}

/// Returns true if two transfers of one set have the same ends: such transfers cannot begin
/// together.
bool sends_twice(const std::vector<RecordedCall>& calls) {
  std::set<std::pair<int, int>> ends;
  return std::ranges::any_of(calls, [&](const RecordedCall& call) {
    return call.is_of_set && !ends.emplace(call.step.from, call.step.to).second;
  });
}

/// Returns the distance d if each member i of each group sends to member i + d; else nullopt.
std::optional<int> places_on(const std::vector<RecordedCall>& calls, const hangs::Family& family) {
  const std::size_t size = calls.size();
  const auto has_size = [&](const std::vector<int>& members) { return members.size() == size; };
  if (size < 2 || !std::ranges::all_of(family.members, has_size)) return std::nullopt;
  const auto places = static_cast<int>(size);
  const OutlineStep& first = calls.front().step;
  const int by = (first.to - first.from + places) % places;
  const bool are_even = std::ranges::all_of(calls, [&](const RecordedCall& call) {
    return (call.step.to - call.step.from + places) % places == by &&
           call.step.count == first.count && call.step.type == first.type;
  });
  return are_even && by != 0 ? std::optional(by) : std::nullopt;
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
    // All groups of one family must have the same size, as steps name ranks within groups.
    if (shares(*found) || found->members.front().size() != group.members.size()) continue;
    found->members.push_back(group.members);
    return static_cast<int>(found - outline_.families.begin());
  }
}

void SequenceMerger::number_by_sequence() {
  std::map<TransferPath, std::map<int, std::vector<std::int64_t>>> ends;  // by rank
  for (int number = 0; number < world(); ++number) {
    for (const RecordedCall& call : rank(number).calls) {
      if (is_uncounted(call) && call.sequence > 0)
        ends[path_of(call)][number].push_back(call.sequence);
    }
  }
  std::map<TransferPath, std::int64_t> firsts;
  for (const auto& [path, own] : ends) {
    if (own.size() != 2) continue;
    const auto& a = own.begin()->second;
    const auto& b = own.rbegin()->second;
    if (are_alike(a, b)) firsts[path] = std::max(a.front(), b.front());
  }
  for (RecordedRank& own : job_.ranks) {
    std::erase_if(own.calls, [&](RecordedCall& call) {
      const auto first = is_uncounted(call) ? firsts.find(path_of(call)) : firsts.end();
      if (first == firsts.end()) return false;
      call.number = call.sequence;
      call.is_counted = true;
      return call.number < first->second;
    });
  }
}

void SequenceMerger::align_transfers() {
  number_by_sequence();
  std::map<TransferPath, std::int64_t> oldest;
  for (RecordedRank& own : job_.ranks) {
    std::map<TransferPath, std::int64_t> done;
    for (const RecordedCall& call : own.calls) {
      if (is_uncounted(call) && !call.is_pending) ++done[path_of(call)];
    }
    std::map<TransferPath, std::int64_t> seen;
    for (RecordedCall& call : own.calls) {
      if (is_uncounted(call)) call.number = seen[path_of(call)]++ - done[path_of(call)];
    }
    for (const auto& [path, count] : seen) {
      const auto [place, is_new] = oldest.try_emplace(path, -done[path]);
      place->second = std::max(place->second, -done[path]);
    }
  }
  for (RecordedRank& own : job_.ranks) {
    std::erase_if(own.calls, [&](const RecordedCall& call) {
      return is_uncounted(call) && call.number < oldest[path_of(call)];
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

/// Returns true if the call is the next one of every member with a recording, and has completed on
/// each.
bool SequenceMerger::is_common(const RecordedCall& call) {
  return std::ranges::all_of(parties(call), [&](int number) {
    if (rank(number).is_silent) return true;
    const auto own = next_like(rank(number), call);
    return own && !rank(number).calls[*own].is_pending;
  });
}

std::vector<int> SequenceMerger::joined_sets(int number) {
  std::vector<int> joined{number};
  for (std::size_t next = 0; next < joined.size(); ++next) {
    const RecordedRank& own = rank(joined[next]);
    if (own.is_silent) continue;
    for (std::size_t i = 0; i < own.set_length(0); ++i) {
      if (own.calls[i].is_pending) return {};
      for (const int party : parties(own.calls[i])) {
        if (!rank(party).is_silent) {
          const auto other = next_like(rank(party), own.calls[i]);
          if (!other || !rank(party).calls[*other].is_of_set) return {};
        }
        if (std::ranges::find(joined, party) == joined.end()) joined.push_back(party);
      }
    }
  }
  std::ranges::sort(joined);
  return joined;
}

std::optional<SequenceMerger::Common> SequenceMerger::take_sets(int number,
                                                                const std::vector<bool>& is_busy) {
  const std::vector<int> joined = joined_sets(number);
  const auto busy = [&](int one) { return is_busy[static_cast<std::size_t>(one)]; };
  if (joined.empty() || std::ranges::any_of(joined, busy)) return std::nullopt;
  Common common{.calls = {}, .ranks = joined};
  std::map<std::tuple<int, int, std::int64_t>, RecordedCall> calls;  // each has two ends
  for (const int member : joined) {
    if (rank(member).is_silent) continue;
    std::deque<RecordedCall>& own = rank(member).calls;
    common.is_async[member] = own.front().step.async;
    for (std::size_t left = rank(member).set_length(0); left > 0; --left) {
      RecordedCall& call = own.front();
      common.before[member].insert(common.before[member].end(), call.before.begin(),
                                   call.before.end());
      calls.emplace(std::tuple(call.step.from, call.step.to, call.number), std::move(call));
      own.pop_front();
    }
  }
  for (auto& [ends, call] : calls) common.calls.push_back(std::move(call));
  return common;
}

std::optional<SequenceMerger::Common> SequenceMerger::take_call(int number,
                                                                const std::vector<bool>& is_busy) {
  const RecordedCall& call = rank(number).calls.front();
  const std::vector<int> all = parties(call);
  const auto busy = [&](int one) { return is_busy[static_cast<std::size_t>(one)]; };
  if (!is_common(call) || std::ranges::any_of(all, busy)) return std::nullopt;
  Common common{.calls = {call}, .ranks = all};
  for (const int member : all) {
    if (rank(member).is_silent) continue;
    std::deque<RecordedCall>& own = rank(member).calls;
    const auto place = own.begin() + static_cast<std::ptrdiff_t>(
                                         next_like(rank(member), common.first()).value_or(0));
    common.is_async[member] = place->step.async;
    common.before[member] = std::move(place->before);
    own.erase(place);
  }
  return common;
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
    for (int number = 0; number < world(); ++number) {
      if (is_busy[static_cast<std::size_t>(number)] || rank(number).calls.empty()) continue;
      std::optional<Common> common = rank(number).calls.front().is_of_set
                                         ? take_sets(number, is_busy)
                                         : take_call(number, is_busy);
      if (!common) continue;
      for (const int member : common->ranks) is_busy[static_cast<std::size_t>(member)] = true;
      round.push_back(*std::move(common));
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

bool SequenceMerger::Common::is_like(const Common& other) const {
  const bool is_even = std::ranges::all_of(
      other.is_async, [&](const auto& own) { return own.second == first().step.async; });
  return is_even &&
         std::ranges::equal(calls, other.calls, [](const RecordedCall& a, const RecordedCall& b) {
           return a.step.family == b.step.family && a.step.kind == b.step.kind &&
                  a.step.op == b.step.op && a.step.count == b.step.count &&
                  a.step.type == b.step.type && a.step.from == b.step.from &&
                  a.step.to == b.step.to;
         });
}

/// Emits the calls of a round: one step if all groups of a family make an equal call, else one step
/// per rank.
void SequenceMerger::emit_round(std::vector<Common> round) {
  while (!round.empty()) {
    const Common common = round.front();
    const auto is_like = [&](const Common& other) { return common.is_like(other); };
    const auto alike = std::ranges::count_if(round, is_like);
    const auto groups =
        outline_.families[static_cast<std::size_t>(common.first().step.family)].members.size();
    if (static_cast<std::size_t>(alike) == groups && !sends_twice(common.calls)) {
      std::vector<int> all;
      std::map<int, Steps> before;
      for (Common& one : round) {
        if (!is_like(one)) continue;
        all.insert(all.end(), one.ranks.begin(), one.ranks.end());
        before.merge(one.before);
      }
      emit_before(before, all);
      emit_for_all(common, all);
      std::erase_if(round, is_like);
      continue;
    }
    emit_before(common.before, common.ranks);
    emit_apart(common);
    round.erase(round.begin());
  }
}

void SequenceMerger::emit_for_all(const Common& common, const std::vector<int>& ranks) {
  const hangs::Family& family =
      outline_.families[static_cast<std::size_t>(common.first().step.family)];
  if (!common.first().is_of_set) {
    emit(common.first().step, ranks);
    return;
  }
  ++bundles_;
  for (const int number : ranks) ++made_[static_cast<std::size_t>(number)];
  if (const auto by = places_on(common.calls, family)) {
    OutlineStep step = common.first().step;
    step.kind = OutlineKind::Shift;
    step.from = 0;
    step.to = *by;
    step.bundle = bundles_;
    outline_.steps.push_back(step);
    return;
  }
  for (const RecordedCall& call : common.calls) {
    OutlineStep step = call.step;
    step.bundle = bundles_;
    outline_.steps.push_back(step);
  }
}

void SequenceMerger::emit_apart(const Common& common) {
  for (const int member : common.ranks) {
    Steps steps;
    for (const RecordedCall& call : common.calls) {
      const std::vector<int> own = parties(call);
      if (std::ranges::find(own, member) == own.end()) continue;
      steps.push_back(call.step);
      steps.back().async = common.is_async_of(member);
    }
    if (common.first().is_of_set) {
      emit_set(steps, member);
    } else {
      emit_alone(steps, member);
      ++made_[static_cast<std::size_t>(member)];
    }
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

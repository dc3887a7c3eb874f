#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {

using What = LogStatement::What;

namespace {

std::set<int> ranks_that_gave_up(const LogFacts& facts) {
  std::set<int> ranks;
  for (const RankDump& dump : facts.dumps) {
    const bool waits = std::any_of(dump.calls.begin(), dump.calls.end(),
                                   [](const Call& call) { return call.is_pending(); });
    if (waits) ranks.insert(dump.rank);
  }
  for (const auto& [rank, notes] : facts.notes) {
    if (notes.is_waiting) ranks.insert(rank);
  }
  return ranks;
}

/// Ranks that no time-out names, if they are few: those of a job of known size, else the one that is missing among
/// those that are heard of.
std::vector<int> few_silent(const LogFacts& facts, const std::set<int>& gave_up) {
  std::vector<int> silent;
  const bool is_known = facts.known_world > 0;
  const int end = is_known ? facts.known_world : gave_up.empty() ? 0 : *gave_up.rbegin();
  for (int rank = 0; rank < end; ++rank) {
    if (!gave_up.contains(rank)) silent.push_back(rank);
  }
  const bool are_few = silent.size() == 1 || (is_known && silent.size() * 4 <= std::size_t(end));
  if (!are_few || gave_up.size() < 2) silent.clear();
  return silent;
}

bool is_of_kernel(const LogStatement& one) {
  return one.detail.find("kernel") != std::string::npos;
}

/// Code of a statement of a process that stands in its own end.
constexpr std::int64_t kGoesAway = 1;

/// What a stack shows of a process that does not communicate, as a statement.
std::vector<LogStatement> busy_stacks(const LogFacts& facts) {
  std::vector<LogStatement> found;
  for (const ProcessStack& stack : facts.stacks) {
    if (is_waiting(stack.doing) || stack.count != 1) continue;
    // Whose it is must be said, or what it does: a function of the program's own may wait for the GPU.
    if (stack.ranks.empty() && stack.doing == Doing::Works) continue;
    LogStatement one;
    one.what = What::Busy;
    one.ranks = stack.ranks;
    one.text = stack.text();
    one.code = stack.doing == Doing::Leaves ? kGoesAway : 0;
    one.detail = fmt::format("was in {} by its stack", stack.place());
    one.file = stack.file;
    one.line = stack.line;
    found.push_back(std::move(one));
  }
  // Of several that work, none stands out.
  if (found.size() > 1) found.clear();
  return found;
}

}  // namespace

void add_busy(const Scene& scene, const LogFacts& facts, std::vector<Explanation>& out) {
  if (facts.timeouts == 0) return;
  auto said = all_of(facts, What::Busy);
  const std::vector<LogStatement> stacks = busy_stacks(facts);
  for (const LogStatement& one : stacks) said.push_back(&one);
  if (said.empty()) return;
  const std::set<int> gave_up = ranks_that_gave_up(facts);
  // Who gave up itself had come to the call.
  std::erase_if(said, [&](const LogStatement* one) {
    return !one->ranks.empty() && gave_up.contains(one->ranks.front());
  });
  // Where all of the job gave up, nobody is left who could have been busy.
  const bool have_all = facts.known_world > 0 && gave_up.size() >= std::size_t(facts.known_world);
  if (have_all) std::erase_if(said, [](const LogStatement* one) { return one->ranks.empty(); });
  if (said.empty()) return;
  std::vector<int> ranks = ranks_of(said);
  // Dumps show themselves who did not come.
  if (ranks.empty() && !has_dumps(scene.job)) {
    ranks = few_silent(facts, gave_up);
    // Bars are drawn and checkpoints are written by the main process alone, in nearly all programs.
    if (ranks.empty() && !gave_up.empty() && !gave_up.contains(0) && !is_of_kernel(*said.front()))
      ranks = {0};
  }
  const std::string who = ranks.empty() ? "a process" : ranks_text(ranks);
  // Who leaves the program, or has raised an error of its own, does not come any more.
  const bool is_away =
      std::any_of(said.begin(), said.end(),
                  [](const LogStatement* one) { return one->code == kGoesAway; }) ||
      std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
        const auto notes = facts.notes.find(rank);
        return notes != facts.notes.end() && notes->second.has_exception;
      });
  out.push_back(
      told(is_away ? Kind::MissingRank : Kind::Straggler, said, ranks, confidence::kBusy,
           fmt::format("{} {}, while others gave up waiting", who, said.front()->detail)));
  out.back().missing.push_back("the stack of that process (py-spy dump) while the others wait");
}

void add_left(const LogFacts& facts, std::vector<Explanation>& out) {
  auto said = all_of(facts, What::LeftGroup);
  if (facts.timeouts == 0) return;
  const std::set<int> gave_up = ranks_that_gave_up(facts);
  std::erase_if(said, [&](const LogStatement* one) {
    return one->ranks.empty() || gave_up.contains(one->ranks.front());
  });
  if (said.empty() || gave_up.empty()) return;
  const std::vector<int> ranks = ranks_of(said);
  out.push_back(told(
      Kind::MissingRank, said, ranks, confidence::kLeftGroup,
      fmt::format("{} closed its process group while others waited: it left the job, most likely "
                  "after an error of its own, and what they wait in cannot end without it",
                  ranks_text(ranks))));
  out.back().missing.push_back("the end of the log of " + ranks_text(ranks));
}

}  // namespace ringside::hang

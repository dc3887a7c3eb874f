#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/rank_timers.h"
#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

using facts::Activity;
using facts::Basis;
using facts::Busy;
using facts::Reporter;
using BusyList = FactList<Busy>;

/// Returns the ranks that no timeout names, if they are few: for a job of known size all of them, otherwise the one
/// that is missing among those that log.
std::vector<int> few_silent(const Scene& scene) {
  std::vector<int> silent;
  const bool is_known = scene.logs.known_world > 0;
  const int end = is_known                  ? scene.logs.known_world
                  : scene.timed_out.empty() ? 0
                                            : *scene.timed_out.rbegin();
  for (int rank = 0; rank < end; ++rank) {
    if (!scene.timed_out.contains(rank)) silent.push_back(rank);
  }
  const bool are_few = silent.size() == 1 || (is_known && silent.size() * 4 <= std::size_t(end));
  if (!are_few || scene.timed_out.size() < 2) silent.clear();
  return silent;
}

/// Returns the stacks of processes that do not communicate. If several are busy, no single one is the culprit.
std::vector<Busy> busy_stacks(const Scene& scene) {
  std::vector<Busy> found;
  for (const ProcessStack& stack : scene.logs.stacks) {
    if (is_waiting_for_ranks(stack.activity) || stack.count != 1) continue;
    // A stack counts only if its rank or its work is known, because a function of the program may itself wait for the
    // GPU.
    if (stack.ranks.empty() && stack.activity == Activity::Compute) continue;
    Busy one;
    if (!stack.ranks.empty()) one.subject.rank = stack.ranks.front();
    one.source = {.file = stack.file, .line = stack.line, .text = stack.text()};
    one.activity = stack.activity == Activity::Exit ? Activity::Exit : Activity::Unknown;
    one.what = "was in " + stack.place();
    found.push_back(std::move(one));
  }
  if (found.size() > 1) found.clear();
  return found;
}

/// Adds what a rank did while others timed out.
void add_while_waiting(const Scene& scene, Explanations& out) {
  if (scene.logs.timeouts == 0) return;
  BusyList said = facts_where(scene.facts.busy, [](const Busy& one) {
    return one.reporter == Reporter::Process && one.basis != Basis::Person;
  });
  const std::vector<Busy> stacks = busy_stacks(scene);
  for (const Busy& one : stacks) said.push_back(&one);
  // A rank that timed out had reached the call. If all ranks timed out, no rank was busy.
  const bool have_all =
      scene.logs.known_world > 0 && scene.timed_out.size() >= std::size_t(scene.logs.known_world);
  std::erase_if(said, [&](const Busy* one) {
    return one->subject.is_known() ? scene.timed_out.contains(one->subject.rank) : have_all;
  });
  if (said.empty()) return;
  std::vector<int> ranks = ranks_of(said);
  const bool is_of_kernel = said.front()->activity == Activity::FileSystem;
  // Dumps show which rank did not arrive.
  if (ranks.empty() && !scene.has_dumps) {
    ranks = few_silent(scene);
    // In nearly all programs, only the main process draws progress bars and writes checkpoints.
    const bool is_main = !scene.timed_out.empty() && !scene.timed_out.contains(0) && !is_of_kernel;
    if (ranks.empty() && is_main) ranks = {0};
  }
  // A rank that leaves the program, or has raised an exception, no longer reaches the call.
  const bool has_raised = std::ranges::any_of(ranks, [&](int rank) {
    const auto notes = scene.logs.notes.find(rank);
    return notes != scene.logs.notes.end() && notes->second.has_exception;
  });
  const bool leaves =
      std::ranges::any_of(said, [](const Busy* one) { return one->activity == Activity::Exit; });
  Explanation one = stated(has_raised || leaves ? Kind::MissingRank : Kind::Straggler,
                           Feature::BusyElsewhere, said, ranks);
  one.what = said.front()->what;
  one.missing.push_back({Need::What::Stacks, ranks});
  out.push_back(std::move(one));
}

void add_tools(const Scene& scene, Explanations& out) {
  const auto of = [&](Reporter reporter, auto is_wanted) {
    return facts_where(scene.facts.busy,
                       [&](const Busy& one) { return one.reporter == reporter && is_wanted(one); });
  };
  const auto is_stopped = [](const Busy& one) { return one.activity == Activity::Stopped; };
  if (const BusyList stopped = of(Reporter::ProcessTable, is_stopped); !stopped.empty()) {
    out.push_back(stated(Kind::Straggler, Feature::ProcessStopped, stopped, ranks_of(stopped)));
    // A row of ps shows the local rank alone; attach writes what the process does, and the rank of the job.
    out.back().what = stopped.front()->what;
    out.back().is_local_rank = out.back().what.empty();
  }
  const auto is_in_kernel = [](const Busy& one) { return one.activity == Activity::FileSystem; };
  if (const BusyList in_kernel = of(Reporter::ProcessTable, is_in_kernel); !in_kernel.empty()) {
    out.push_back(stated(Kind::Straggler, Feature::ProcessStopped, in_kernel, ranks_of(in_kernel)));
    out.back().add(Feature::Doubtful);
    out.back().what = "was in the kernel, for a file system or a driver";
    out.back().is_local_rank = true;
  }
  const auto is_slow = [](const Busy& one) { return one.activity == Activity::Compute; };
  if (const BusyList idle = of(Reporter::GpuTool, std::not_fn(is_slow));
      !idle.empty() && scene.is_hang_reported()) {
    out.push_back(stated(Kind::MissingRank, Feature::GpuIdle, idle, ranks_of(idle)));
    out.back().is_local_rank = true;
    out.back().missing.push_back({Need::What::Stacks, out.back().culprits});
  }
  if (const BusyList slow = facts_where(scene.facts.busy, is_slow); !slow.empty()) {
    Explanation one = stated(Kind::Straggler, Feature::Slow, slow, ranks_of(slow));
    one.what = slow.front()->what;
    one.is_local_rank = slow.front()->reporter == Reporter::GpuTool;
    if (one.is_local_rank || one.culprits.empty()) one.add(Feature::Doubtful);
    out.push_back(std::move(one));
  }
  // If a watchdog ends its process, this shows only that it waited, usually for a call.
  const BusyList stuck = of(Reporter::Watchdog, [](const Busy&) { return true; });
  const std::vector<int> frozen = ranks_of(stuck);
  const bool says_where = std::ranges::any_of(stuck, [](const Busy* one) {
    return one->source.text.find("Terminating the process") == std::string::npos;
  });
  if (frozen.size() == 1 && says_where && scene.logs.run.finished == 0)
    out.push_back(stated(Kind::Straggler, Feature::WatchdogStuck, stuck, frozen));
  const BusyList people =
      facts_where(scene.facts.busy, [](const Busy& one) { return one.basis == Basis::Person; });
  if (!people.empty()) {
    out.push_back(stated(Kind::Straggler, Feature::PersonSays, people, ranks_of(people)));
    out.back().what = people.front()->what;
  }
}

/// Adds a rank whose own work takes much longer than that of the others, by a program's timers.
void add_timers(const Scene& scene, Explanations& out) {
  const std::vector<int> slow = slow_ranks(scene.logs.timers);
  if (slow.empty()) return;
  Explanation one;
  one.kind = Kind::Straggler;
  one.culprits = slow;
  one.features = {Feature::Slow};
  for (const RankTimer& timer : scene.logs.timers) {
    if (!is_own_work(timer.name) || !timer.times.contains(slow.front()) || one.places.size() >= 4)
      continue;
    std::vector<double> times;
    for (const auto& [rank, time] : timer.times) times.push_back(time);
    std::sort(times.begin(), times.end());
    const std::string text =
        fmt::format("{}: {}; median of the ranks {}", timer.name, timer.times.at(slow.front()),
                    times[(times.size() - 1) / 2]);
    one.places.push_back({{slow.front()}, "", text});
    one.evidence.push_back({scene.logs.timers_file, -1, timer.line, text});
  }
  out.push_back(std::move(one));
}

}  // namespace

void add_busy(const Scene& scene, Explanations& out) {
  add_while_waiting(scene, out);
  add_tools(scene, out);
  add_timers(scene, out);
}

}  // namespace ringside::hang

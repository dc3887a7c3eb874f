#include "study/scenario/faulty_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/folder.h"
#include "harness/hangs/calls.h"
#include "harness/hangs/generate.h"
#include "harness/hangs/hang_case.h"
#include "harness/scenario/plan_faults.h"
#include "study/explain/connection_sends.h"
#include "study/scenario/scenario_parts.h"

namespace ringside::study {
namespace {

using hangs::OutlineStep;

constexpr std::int64_t kMostPlayed = 4'000'000;  // calls of all ranks, some 150 bytes each

/// Returns a program's operation for the collective; none: it has none.
std::optional<hangs::Op> program_word(Collective collective) {
  const hangs::Op op = hangs::op_of(collective, hangs::Op::Barrier);
  if (collective == Collective::AllReduce) return hangs::Op::AllReduce;
  if (hangs::is_p2p(op) || hangs::collective_of(op) != collective) return std::nullopt;
  return op;
}

/// Elements as a program counts them: the input of one rank, or the output for reduce_scatter.
std::int64_t elements_of(Collective collective, const CallShape& shape, int nranks) {
  return collective == Collective::AllToAll ? shape.count * nranks : shape.count;
}

/// Each call is waited for, as `bench` does.
hangs::Outline repeated_calls(const SimPlan& plan, hangs::Op op, const std::vector<SimCall>& calls,
                              int iterations) {
  const CommShape& shape = plan.job.shape();
  hangs::Outline outline;
  outline.name = to_string(plan.calls.collective);
  outline.ranks = shape.nranks;
  outline.ranks_per_host = std::max(1, shape.nranks / std::max(1, shape.nnodes));
  std::vector<int> all(static_cast<std::size_t>(shape.nranks));
  std::iota(all.begin(), all.end(), 0);
  outline.families.push_back({"0", "default_pg", {std::move(all)}});
  for (const SimCall& call : calls) {
    OutlineStep step{.op = op,
                     .count = elements_of(plan.calls.collective, call.shape, shape.nranks),
                     .type = plan.calls.type};
    for (int i = 0; i < iterations; ++i) {
      outline.steps.push_back(step);
      outline.steps.push_back({.kind = OutlineStep::Kind::Synchronize});
    }
  }
  return outline;
}

/// Returns the call's number in the job of a step, from 0 on.
int call_number(const hangs::Step& step) { return step.site / 2; }

/// By size and rank: the data sent on connections that faults name.
using KnownSends = std::map<std::pair<int, int>, std::vector<SentOn>>;

Result<KnownSends> known_sends(const SimPlan& plan, const std::vector<SimRow>& rows,
                               const FaultPlan& drawn) {
  KnownSends known;
  for (const Fault& fault : drawn.faults) {
    if (!is_link_fault(fault.kind)) continue;
    for (std::size_t size = 0; size < rows.size(); ++size) {
      const auto [found, is_new] = known.try_emplace({static_cast<int>(size), *fault.from});
      if (!is_new) continue;
      const SimCall& call = rows[size].call;
      RINGSIDE_TRY(found->second,
                   sends_of(call.tuned.choice, plan.channels, call.shape, Rank{*fault.from}));
    }
  }
  return known;
}

/// By call of the group: when the first rank entered, when the last one left, how many left.
struct PlayedCollective {
  std::int64_t began = std::numeric_limits<std::int64_t>::max();
  std::int64_t ended = 0;
  int ranks = 0;
};

std::vector<FaultyCalls> times_of_sizes(const hangs::Play& play, std::size_t sizes,
                                        int iterations) {
  std::vector<PlayedCollective> calls(sizes * static_cast<std::size_t>(iterations));
  for (const hangs::RankHistory& rank : play.ranks) {
    for (const hangs::Record& record : rank.records) {
      const auto number = static_cast<std::size_t>(record.seq() - 1);
      if (number >= calls.size() || record.completed == hangs::kNever) continue;
      PlayedCollective& call = calls[number];
      call.began = std::min(call.began, record.started);
      call.ended = std::max(call.ended, record.completed);
      ++call.ranks;
    }
  }
  std::vector<FaultyCalls> all(sizes);
  for (std::size_t size = 0; size < sizes; ++size) {
    std::vector<double> times;
    for (int i = 0; i < iterations; ++i) {
      const int number = static_cast<int>(size) * iterations + i;
      const PlayedCollective& call = calls[static_cast<std::size_t>(number)];
      if (call.ranks < static_cast<int>(play.ranks.size())) continue;
      const Seconds took{static_cast<double>(call.ended - call.began) * 1e-9};
      times.push_back(took.count());
      if (took <= all[size].slowest) continue;
      all[size].slowest = took;
      all[size].slowest_call = number;
    }
    all[size].completed = static_cast<int>(times.size());
    if (times.empty()) continue;
    const auto middle = times.begin() + std::ssize(times) / 2;
    std::ranges::nth_element(times, middle);
    all[size].median = Seconds{*middle};
  }
  return all;
}

/// Drawn as real ranks do, so that a seed gives the same fault.
Result<FaultPlan> drawn_plan(const FaultPlan& plan, int nranks, std::int64_t calls) {
  return plan.drawn_for(nranks, std::min(calls, kDrawnCalls));
}

}  // namespace

Status prepare_faults(const SimPlan& plan, const FaultQuestion& question) {
  const int nranks = plan.job.shape().nranks;
  if (!program_word(plan.calls.collective)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("faults in {}, in simulated time", to_string(plan.calls.collective)),
                 "simulate all_reduce, all_gather, reduce_scatter, broadcast, reduce or "
                 "all_to_all, or run it on real ranks: ringside bench"};
  }
  const std::int64_t calls = std::ssize(plan.calls.sizes) * question.iterations;
  if (calls * nranks > kMostPlayed) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} calls of {} ranks, played one by one", calls, nranks),
                 fmt::format("give fewer nodes, sizes or --iters: {} calls of all ranks together "
                             "at most",
                             kMostPlayed)};
  }
  RINGSIDE_TRY([[maybe_unused]] const FaultPlan drawn, drawn_plan(question.plan, nranks, calls));
  return question.folder.empty() ? Status{} : make_empty_folder(question.folder);
}

Result<FaultyJob> play_faults(const SimPlan& plan, const std::vector<SimRow>& rows,
                              const FaultQuestion& question) {
  RINGSIDE_TRY(prepare_faults(plan, question));
  std::vector<SimCall> calls;
  for (const SimRow& row : rows) calls.push_back(row.call);
  hangs::Program program = hangs::make_program(
      repeated_calls(plan, *program_word(plan.calls.collective), calls, question.iterations));
  FaultyJob job;
  RINGSIDE_TRY(job.drawn, drawn_plan(question.plan, program.ranks, most_calls(program)));
  RINGSIDE_TRY(const KnownSends known, known_sends(plan, rows, job.drawn));
  const SendsOf sends = [&](const hangs::Step& call, int from) {
    return known.at({call_number(call) / question.iterations, from});
  };
  RINGSIDE_TRY(const PlannedFaults faults,
               plan_faults(job.drawn, program, question.patience, sends));
  job.notes = faults.idle;
  hangs::PlayTimes times{.call = {}, .is_even = true};
  times.call = [&](const hangs::Step& call, const hangs::Group& group) {
    const auto size = static_cast<std::size_t>(call_number(call) / question.iterations);
    const Seconds time = rows[size].result.time;
    return std::chrono::round<Nanoseconds>(std::max(time, slowed(faults.slow, call, group, sends)));
  };
  hangs::Play play = hangs::play(program, faults.network, 1, times);
  job.sizes = times_of_sizes(play, rows.size(), question.iterations);
  if (!play.is_hung()) return job;
  RINGSIDE_TRY(const EvidenceFolder folder, EvidenceFolder::make(question.folder));
  RINGSIDE_TRY(hangs::write_evidence(
      hangs::kept_case(to_string(plan.calls.collective), std::move(program), std::move(play)),
      folder.path()));
  RINGSIDE_TRY(job.verdict, verdict_of(folder.path()));
  return job;
}

}  // namespace ringside::study

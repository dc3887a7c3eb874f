#include "harness/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "base/mixed.h"
#include "engine/runtime/call_group.h"
#include "engine/runtime/watch/call_faults.h"
#include "harness/hangs/calls.h"

namespace ringside {
namespace {

using hangs::Op;
using hangs::Step;

std::int64_t elements_of(std::int64_t count, std::int64_t most) {
  if (count <= most) return count;
  return most / 2 + static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(count)) %
                                              static_cast<std::uint64_t>(most / 2));
}

int ranks_in(const hangs::Program& program, const Step& step) {
  return static_cast<int>(program.groups[static_cast<std::size_t>(step.group)].ranks.size());
}

CollectiveCall call_of(const hangs::Program& program, const Step& step, std::int64_t most) {
  CollectiveCall call;
  call.collective = hangs::collective_of(step.op);
  call.type = step.type;
  call.count = elements_of(step.count, most);
  // A program states what a rank gives, the engine what it gives to each.
  if (step.op == Op::AllToAll) {
    const auto ranks = static_cast<std::int64_t>(ranks_in(program, step));
    call.count = (call.count + ranks - 1) / ranks;
  }
  if (hangs::has_root(step.op)) call.root = Rank{step.peer};
  if (step.op == Op::Send) call.sends = {{Rank{step.peer}, 0, call.count}};
  if (step.op == Op::Recv) call.recvs = {{Rank{step.peer}, 0, call.count}};
  return call;
}

/// Where the calls' data begin in a rank's input, and in its output; last, where they end.
std::vector<std::size_t> places_of(std::span<const CollectiveCall> calls, int nranks) {
  std::vector<std::size_t> places{0};
  for (const CollectiveCall& call : calls) {
    const std::size_t block = size_of(call.type).value * static_cast<std::size_t>(call.count);
    places.push_back(places.back() + block * static_cast<std::size_t>(nranks));
  }
  return places;
}

class ProgramRun {
 public:
  ProgramRun(runtime::Communicator& world, const hangs::Program& program,
             std::int64_t most_elements)
      : world_(world), program_(program), most_(most_elements), me_(to_int(world.rank())) {}

  /// The first family is all ranks; of each other one a rank is in one group or in none.
  Status make_groups() {
    communicators_.resize(program_.groups.size());
    for (std::size_t family = 1; family < program_.families.size(); ++family) {
      const int group = program_.group_of[static_cast<std::size_t>(me_)][family];
      const bool is_in = group >= 0;
      const std::string description =
          is_in ? program_.groups[static_cast<std::size_t>(group)].desc : std::string();
      RINGSIDE_TRY(auto made, world_.split(is_in ? std::optional(group) : std::nullopt, me_,
                                           description, program_.families[family]));
      if (is_in) communicators_[static_cast<std::size_t>(group)] = std::move(made);
    }
    return {};
  }

  Status run() {
    const hangs::RankProgram& mine = program_.programs[static_cast<std::size_t>(me_)];
    for (int iteration = 0; iteration < mine.iterations; ++iteration) {
      const std::vector<Step>& body = mine.body_of(iteration);
      for (std::size_t i = 0; i < body.size();) {
        const std::span<const Step> steps(body.data() + i, hangs::bundle_length(body, i));
        RINGSIDE_TRY(take(steps));
        i += steps.size();
      }
    }
    return {};
  }

  Status finish() {
    for (const auto& communicator : communicators_) {
      if (communicator) RINGSIDE_TRY(communicator->finish());
    }
    return {};
  }

 private:
  runtime::Communicator& of(int group) {
    const auto& own = communicators_[static_cast<std::size_t>(group)];
    return own ? *own : world_;
  }

  /// steps  those that begin together, or one
  Status take(std::span<const Step> steps) {
    const Step& step = steps.front();
    switch (step.kind) {
      case Step::Kind::Compute:
      case Step::Kind::Kernel:  // calls come one after the other: nothing overlaps it
        std::this_thread::sleep_for(step.time);
        return {};
      case Step::Kind::Call:
        return calls(steps);
      case Step::Kind::Rendezvous:
        return of(step.group).barrier();
      case Step::Kind::Join:         // no call is under way
      case Step::Kind::Synchronize:  // likewise
      case Step::Kind::Halt:         // faults are the plan's
        break;
    }
    return {};
  }

  /// Sends and receives that begin together are one call, collectives follow each other: as CallGroup has them.
  Status calls(std::span<const Step> steps) {
    runtime::Communicator& communicator = of(steps.front().group);
    std::vector<CollectiveCall> calls;
    for (const Step& step : steps) calls.push_back(call_of(program_, step, most_));
    const std::vector<std::size_t> places = places_of(calls, communicator.nranks());
    input_.resize(std::max(input_.size(), places.back()));
    output_.resize(std::max(output_.size(), places.back()));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i].input = input_.data() + places[i];
      calls[i].output = output_.data() + places[i];
    }
    if (hangs::is_p2p(steps.front().op)) calls = fuse_messages(calls);
    for (const CollectiveCall& call : calls) RINGSIDE_TRY(communicator.run(call));
    return {};
  }

  runtime::Communicator& world_;
  const hangs::Program& program_;
  const std::int64_t most_;
  const int me_;
  std::vector<std::unique_ptr<runtime::Communicator>>
      communicators_;  ///< [group]; null: all ranks, or not in it
  std::vector<std::byte> input_, output_;
};

/// For something that is no call, and that does not come.
/// returns  why the job has broken meanwhile
Error wait_elsewhere(const runtime::Communicator& world) {
  constexpr std::chrono::milliseconds kNap{5};
  for (;;) {
    if (auto error = world.async_error()) return *std::move(error);
    std::this_thread::sleep_for(kNap);
  }
}

/// Of the input for the steps of one body that take most.
std::size_t largest_input(const hangs::Program& program, const std::vector<Step>& body,
                          std::int64_t most) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < body.size();) {
    const std::span<const Step> steps(body.data() + i, hangs::bundle_length(body, i));
    i += steps.size();
    if (steps.front().kind != Step::Kind::Call) continue;
    std::vector<CollectiveCall> calls;
    for (const Step& step : steps) calls.push_back(call_of(program, step, most));
    largest = std::max(largest, places_of(calls, ranks_in(program, steps.front())).back());
  }
  return largest;
}

}  // namespace

Bytes program_memory(const hangs::Program& program, std::int64_t most_elements) {
  std::size_t largest = 0;
  for (const hangs::RankProgram& one : program.programs) {
    largest = std::max(largest, largest_input(program, one.body, most_elements));
    for (const auto& [iteration, body] : one.odd) {
      largest = std::max(largest, largest_input(program, body, most_elements));
    }
  }
  return Bytes{2 * largest};  // and an output as long
}

Result<int> run_program(JobRank& rank, const hangs::Program& program, std::int64_t most_elements) {
  const int nranks = rank.communicator.nranks();
  if (program.ranks != nranks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a program of {} ranks in a job of {}", program.ranks, nranks),
                 fmt::format("start {} ranks", program.ranks)};
  }
  ProgramRun run(rank.communicator, program, most_elements);
  RINGSIDE_TRY(run.make_groups());
  try {
    RINGSIDE_TRY(run.run());
  } catch (const PlannedException&) {
    return wait_elsewhere(rank.communicator);
  }
  RINGSIDE_TRY(run.finish());
  return 0;
}

}  // namespace ringside

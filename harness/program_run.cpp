#include "harness/program_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <span>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "base/mixed.h"
#include "engine/runtime/call_group.h"
#include "engine/runtime/watch/call_faults.h"
#include "harness/hangs/calls.h"

namespace ringside {
namespace {

using hangs::Op;
using hangs::Step;

int ranks_in(const hangs::Program& program, const Step& step) {
  return static_cast<int>(program.groups[static_cast<std::size_t>(step.group)].ranks.size());
}

CollectiveCall call_of(const hangs::Program& program, const Step& step, std::int64_t most) {
  CollectiveCall call;
  call.collective = hangs::collective_of(step.op);
  call.type = step.type;
  call.count = fitted_elements(step.count, most);
  // A program gives the rank's total bytes, the engine's call gives the bytes per peer.
  if (step.op == Op::AllToAll) {
    const auto ranks = static_cast<std::int64_t>(ranks_in(program, step));
    call.count = (call.count + ranks - 1) / ranks;
  }
  if (hangs::has_root(step.op)) call.root = Rank{step.peer};
  if (step.op == Op::Send) call.sends = {{Rank{step.peer}, 0, call.count}};
  if (step.op == Op::Recv) call.recvs = {{Rank{step.peer}, 0, call.count}};
  return call;
}

/// Returns where the data of each call begins in a rank's input and output; the last element is the end.
std::vector<std::size_t> places_of(std::span<const CollectiveCall> calls, int nranks) {
  std::vector<std::size_t> places{0};
  for (const CollectiveCall& call : calls) {
    const std::size_t block = size_of(call.type).value * static_cast<std::size_t>(call.count);
    places.push_back(places.back() + block * static_cast<std::size_t>(nranks));
  }
  return places;
}

/// Makes the asynchronous calls of one communicator, in their order, while the rank goes on: a stream.
///
/// Threads  one, besides its own
class CallQueue {
 public:
  explicit CallQueue(runtime::Communicator& communicator)
      : communicator_(communicator),
        thread_([this](const std::stop_token& stop) { serve(stop); }) {}

  void push(CollectiveCall call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_all();
  }

  /// Waits until all calls are done.
  /// errors  as Communicator::run(), of the first call that failed
  /// throws  PlannedException, if a call did
  Status drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return calls_.empty() && !is_busy_; });
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return status_;
  }

 private:
  void serve(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !calls_.empty(); })) {
      const CollectiveCall call = std::move(calls_.front());
      calls_.pop_front();
      is_busy_ = true;
      lock.unlock();
      Status done;
      std::exception_ptr thrown;
      try {
        done = communicator_.run(call);
      } catch (const PlannedException&) {
        thrown = std::current_exception();
      }
      lock.lock();
      is_busy_ = false;
      if (thrown && !thrown_) thrown_ = thrown;
      if (!done && status_) status_ = done;
      changed_.notify_all();
    }
  }

  runtime::Communicator& communicator_;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable_any changed_;
  std::deque<CollectiveCall> calls_;
  bool is_busy_ = false;
  Status status_;
  std::exception_ptr thrown_;
  std::jthread thread_;  // last member: it ends before what it uses
};

class ProgramRun {
 public:
  /// buffer  bytes of the largest input of a call of this rank, and of its output
  ProgramRun(runtime::Communicator& world, const hangs::Program& program,
             std::int64_t most_elements, std::size_t buffer)
      : world_(world),
        program_(program),
        most_(most_elements),
        me_(to_int(world.rank())),
        input_(buffer),
        output_(buffer) {}

  /// Makes the communicators. The first family has one group of all ranks; in each other family a rank is in at most
  /// one group.
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
    RINGSIDE_TRY(drain());
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

  /// steps  one step, or steps that begin together
  Status take(std::span<const Step> steps) {
    const Step& step = steps.front();
    switch (step.kind) {
      case Step::Kind::Compute:
      case Step::Kind::Kernel:  // calls run one after the other, so nothing overlaps it
        std::this_thread::sleep_for(step.time);
        return {};
      case Step::Kind::Call:
        return calls(steps);
      case Step::Kind::Rendezvous:
        RINGSIDE_TRY(drain());
        return of(step.group).barrier();
      case Step::Kind::Join:
      case Step::Kind::Synchronize:
        return drain();
      case Step::Kind::Halt:  // the fault plan applies faults
        break;
    }
    return {};
  }

  /// Waits for the asynchronous calls of all communicators.
  Status drain() {
    for (auto& [group, queue] : queues_) RINGSIDE_TRY(queue.drain());
    return {};
  }

  /// Runs sends and receives that begin together as one call, and collectives one after the other, like CallGroup.
  /// Asynchronous sends are queued: stages of a pipeline send to each other at the same time.
  Status calls(std::span<const Step> steps) {
    runtime::Communicator& communicator = of(steps.front().group);
    std::vector<CollectiveCall> calls;
    for (const Step& step : steps) calls.push_back(call_of(program_, step, most_));
    const std::vector<std::size_t> places = places_of(calls, communicator.nranks());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i].input = input_.data() + places[i];
      calls[i].output = output_.data() + places[i];
    }
    if (hangs::is_p2p(steps.front().op)) calls = fuse_messages(calls);
    const int group = steps.front().group;
    const bool is_async = steps.front().async && std::ranges::all_of(steps, [](const Step& step) {
                            return step.op == Op::Send;
                          });
    if (is_async) {
      CallQueue& queue = queues_.try_emplace(group, communicator).first->second;
      for (CollectiveCall& call : calls) queue.push(std::move(call));
      return {};
    }
    // A communicator's calls are made in their order, by one thread at a time.
    if (const auto queue = queues_.find(group); queue != queues_.end()) {
      RINGSIDE_TRY(queue->second.drain());
    }
    for (const CollectiveCall& call : calls) RINGSIDE_TRY(communicator.run(call));
    return {};
  }

  runtime::Communicator& world_;
  const hangs::Program& program_;
  const std::int64_t most_;
  const int me_;
  /// [group]; null: the group of all ranks, or a group without this rank
  std::vector<std::unique_ptr<runtime::Communicator>> communicators_;
  std::vector<std::byte> input_, output_;
  std::map<int, CallQueue> queues_;  ///< by group; last member: the calls use the others
};

/// Waits outside of calls, for something that never happens.
/// returns  the reason that breaks the job meanwhile
Error wait_elsewhere(const runtime::Communicator& world) {
  constexpr std::chrono::milliseconds kNap{5};
  for (;;) {
    if (auto error = world.async_error()) return *std::move(error);
    std::this_thread::sleep_for(kNap);
  }
}

/// Returns the largest input, in bytes, of the steps of one body.
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

/// Returns the same of all bodies of a rank.
std::size_t largest_input(const hangs::Program& program, const hangs::RankProgram& rank,
                          std::int64_t most) {
  std::size_t largest = largest_input(program, rank.body, most);
  for (const auto& [iteration, body] : rank.odd) {
    largest = std::max(largest, largest_input(program, body, most));
  }
  return largest;
}

}  // namespace

std::int64_t fitted_elements(std::int64_t count, std::int64_t most) {
  if (count <= most) return count;
  return most / 2 + static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(count)) %
                                              static_cast<std::uint64_t>(most / 2));
}

Bytes program_memory(const hangs::Program& program, std::int64_t most_elements) {
  std::size_t largest = 0;
  for (const hangs::RankProgram& one : program.programs) {
    largest = std::max(largest, largest_input(program, one, most_elements));
  }
  return Bytes{2 * largest};  // the output is as large as the input
}

Result<int> run_program(JobRank& rank, const hangs::Program& program, std::int64_t most_elements) {
  const int nranks = rank.communicator.nranks();
  if (program.ranks != nranks) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a program of {} ranks in a job of {}", program.ranks, nranks),
                 fmt::format("start {} ranks", program.ranks)};
  }
  const auto me = static_cast<std::size_t>(to_int(rank.communicator.rank()));
  ProgramRun run(rank.communicator, program, most_elements,
                 largest_input(program, program.programs[me], most_elements));
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

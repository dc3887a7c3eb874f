#include "study/interchange/recorded_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/wording.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using recordings::Call;
using recordings::Recording;
using OutlineKind = OutlineStep::Kind;

/// Kernels that overlap a call's ends by at most this do not count as concurrent.
constexpr std::int64_t kTouchNs = 5'000;
constexpr std::int64_t kLeastKernelNs = 50;
constexpr std::int64_t kMostKernelNs = 86'400'000'000'000;

using Time = std::pair<std::int64_t, std::int64_t>;  ///< begin and end in ns

std::vector<Time> joined(std::vector<Time> times) {
  std::ranges::sort(times);
  std::vector<Time> all;
  for (const Time& time : times) {
    if (!all.empty() && time.first <= all.back().second) {
      all.back().second = std::max(all.back().second, time.second);
    } else {
      all.push_back(time);
    }
  }
  return all;
}

/// Returns the time of disjoint, sorted times within one.
std::int64_t within(const std::vector<Time>& times, std::int64_t from, std::int64_t to) {
  std::int64_t sum = 0;
  auto time = std::ranges::upper_bound(times, from, {}, &Time::second);
  for (; time != times.end() && time->first < to; ++time) {
    sum += std::min(to, time->second) - std::max(from, time->first);
  }
  return sum;
}

/// Returns the parts of `times` that no other covers.
std::vector<Time> without(const std::vector<Time>& times, const std::vector<Time>& others) {
  std::vector<Time> left;
  for (const auto& [begin, end] : times) {
    std::int64_t at = begin;
    auto other = std::ranges::upper_bound(others, begin, {}, &Time::second);
    for (; other != others.end() && other->first < end; ++other) {
      if (other->first > at) left.emplace_back(at, other->first);
      at = std::max(at, other->second);
    }
    if (at < end) left.emplace_back(at, end);
  }
  return left;
}

Time time_of(const Call& call) {
  const std::int64_t begin =
      call.begin_ns >= 0 ? call.begin_ns : std::max<std::int64_t>(0, call.issued_ns);
  return {begin, std::max(begin, call.end_ns)};
}

/// Converts one rank's recording to its calls.
class RecordingImport {
 public:
  RecordingImport(const Recording& recording, RecordedJob& job) : recording_(recording), job_(job) {
    for (const recordings::Span& span : recording.compute)
      kernels_.emplace_back(span.begin_ns, span.end_ns);
    kernels_ = joined(std::move(kernels_));
    std::vector<Time> calls;
    for (const Call& call : recording.calls) calls.push_back(time_of(call));
    exposed_ = without(joined(std::move(calls)), kernels_);
  }

  /// Appends the recording's calls, with the work before each, and the work after the last one.
  void write(RecordedRank& own) {
    own.is_silent = false;
    std::vector<Call> calls = recording_.calls;
    std::ranges::stable_sort(calls, {}, [](const Call& call) { return time_of(call).first; });
    const bool has_kernels = !kernels_.empty();
    std::int64_t from = calls.empty() ? 0 : time_of(calls.front()).first;
    if (has_kernels) from = std::min(from, kernels_.front().first);
    std::int64_t last = from;
    for (const Call& recorded : calls) {
      const auto [begin, end] = time_of(recorded);
      last = std::max(last, end);
      auto call = call_of(recorded);
      if (!call) continue;
      if (has_kernels) call->before = busy(from, begin);
      from = begin;
      call->step.async = within(kernels_, begin, end) > kTouchNs;
      if (call->step.async) open_.insert(end);
      own.calls.push_back(*std::move(call));
    }
    if (has_kernels) own.after = busy(from, std::max(last, kernels_.back().second));
  }

 private:
  /// Returns the GPU's work other than calls, and where it waits for concurrent calls.
  std::vector<OutlineStep> busy(std::int64_t from, std::int64_t to) {
    std::vector<OutlineStep> steps;
    while (!open_.empty() && *open_.begin() <= to) {
      const std::int64_t end = *open_.begin();
      open_.erase(open_.begin());
      // Nothing ran concurrently with its end, so the next work had waited for it.
      if (within(exposed_, std::max(from, end - 2 * kTouchNs), end) < kTouchNs) continue;
      add_kernel(steps, from, end);
      OutlineStep join;
      join.kind = OutlineKind::Join;
      steps.push_back(join);
      from = std::max(from, end);
    }
    add_kernel(steps, from, to);
    return steps;
  }

  void add_kernel(std::vector<OutlineStep>& steps, std::int64_t from, std::int64_t to) const {
    const std::int64_t time = to - from - within(exposed_, from, to);
    if (time <= kLeastKernelNs) return;
    OutlineStep kernel;
    kernel.kind = OutlineKind::Kernel;
    kernel.time = Nanoseconds{std::min(time, kMostKernelNs)};
    steps.push_back(kernel);
  }

  std::optional<RecordedCall> call_of(const Call& recorded) {
    const auto op = program_op(recorded.op);
    if (!op) {
      job_.note(
          fmt::format("'{}' is omitted: programs cannot express it", recorded.name.substr(0, 40)));
      return std::nullopt;
    }
    const int group = group_of(recorded);
    if (group < 0) {
      job_.note("calls of groups whose ranks the files do not show are omitted");
      return std::nullopt;
    }
    RecordedCall call{.step = {}, .group = group};
    call.step.op = *op;
    take_size(recorded, *op, call.step);
    if (hangs::has_root(*op)) {
      const int root = member_index(recorded, group, recorded.root);
      call.step.from = std::max(0, root);
      if (recorded.root < 0) {
        job_.note("roots are not recorded: the first rank of each group");
      } else if (root < 0) {
        job_.note("roots that their groups do not have: the first rank of each group");
      }
    }
    call.number = recorded.sequence;
    if (!hangs::is_p2p(*op)) return call;
    return transfer(recorded, *op, std::move(call));
  }

  void take_size(const Call& recorded, Op op, OutlineStep& step) {
    const auto type = program_type(recorded.type);
    const bool are_bytes = recorded.type.empty() && recorded.bytes > 0;
    std::uint64_t count =
        op == Op::ReduceScatter && recorded.out_count > 0 ? recorded.out_count : recorded.in_count;
    if (op == Op::Recv && recorded.out_count > 0) count = recorded.out_count;
    if (are_bytes && op == Op::AllToAll) count = recorded.bytes;
    step.count =
        static_cast<std::int64_t>(std::clamp<std::uint64_t>(count, 1, std::uint64_t{1} << 40));
    if (op == Op::Barrier) {
      step.count = 1;
    } else if (type) {
      step.type = *type;
    } else if (are_bytes) {
      step.type = DataType::Uint8;
      job_.note("element types of calls: bytes in their place");
    } else {
      job_.note(fmt::format("element type '{}': float in its place", recorded.type.substr(0, 40)));
    }
    if (count == 0 && op != Op::Barrier) job_.note("sizes of some calls: 1 element in their place");
  }

  std::optional<RecordedCall> transfer(const Call& recorded, Op op, RecordedCall call) {
    const RecordedGroup& group = job_.groups[static_cast<std::size_t>(call.group)];
    const auto members = static_cast<int>(group.members.size());
    const int self = group.index_of(recording_.rank);
    int peer = member_index(recorded, call.group, recorded.peer);
    // Many recorders omit the peer; in a group of two there is only one.
    if (recorded.peer < 0 && members == 2) peer = 1 - self;
    if (peer < 0 || peer == self) {
      job_.note("transfers without their peers are omitted");
      return std::nullopt;
    }
    call.number = 0;
    call.step.kind = OutlineKind::Transfer;
    call.step.op = Op::AllReduce;  // the kind gives the meaning
    call.step.from = op == Op::Send ? self : peer;
    call.step.to = op == Op::Send ? peer : self;
    return call;
  }

  /// Returns the index of a group rank of the recorded call among the members of RecordedJob's group, which are in
  /// ascending order (a recorded group may have any order); -1: the group has no such rank.
  [[nodiscard]] int member_index(const Call& call, int group, int group_rank) const {
    const std::vector<int>& recorded =
        recording_.groups[static_cast<std::size_t>(call.group)].members;
    const RecordedGroup& own = job_.groups[static_cast<std::size_t>(group)];
    const std::vector<int>& members = recorded.empty() ? own.members : recorded;
    if (group_rank < 0 || group_rank >= std::ssize(members)) return -1;
    return own.index_of(members[static_cast<std::size_t>(group_rank)]);
  }

  /// Returns the index in RecordedJob::groups of the call's group; -1: its ranks are unknown, or the recording's rank
  /// is not one of them.
  int group_of(const Call& call) {
    const recordings::Group& group = recording_.groups[static_cast<std::size_t>(call.group)];
    std::vector<int> members = group.members;
    const auto world = static_cast<int>(job_.ranks.size());
    if (members.empty() && (group.size == world || group.size == 0)) {
      for (int rank = 0; rank < world; ++rank) members.push_back(rank);
    }
    const bool is_ours = std::ranges::count(members, recording_.rank) > 0 &&
                         *std::ranges::max_element(members) < world;
    return is_ours ? job_.group_of(group.name, group.description, std::move(members)) : -1;
  }

  const Recording& recording_;
  RecordedJob& job_;
  std::vector<Time> kernels_;
  std::vector<Time> exposed_;         ///< calls run, and nothing else
  std::multiset<std::int64_t> open_;  ///< ends of asynchronous calls without a recorded wait
};

}  // namespace

Result<RecordedJob> import_recordings(recordings::Loaded loaded) {
  if (!loaded.bad.empty()) return loaded.bad.front().error;
  constexpr int kMostRecorded = 65536;  // as for programs of other sources (chakra_import.cpp)
  RecordedJob job;
  int world = 0;
  for (const Recording& recording : loaded.recordings) {
    world = std::max({world, recording.world, recording.rank + 1});
    for (const std::string& note : recording.notes) job.note(note);
    if (world <= kMostRecorded) continue;
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: a job of {} ranks", recording.path, world),
                 fmt::format("scenarios are made of {} ranks at most", kMostRecorded)};
  }
  job.ranks.resize(static_cast<std::size_t>(world));
  bool has_kernels = false;
  for (const Recording& recording : loaded.recordings) {
    has_kernels |= !recording.compute.empty();
    RecordingImport(recording, job).write(job.ranks[static_cast<std::size_t>(recording.rank)]);
  }
  if (!has_kernels)
    job.note("what ranks computed between calls is not recorded: nothing in its place");
  const int silent = world - static_cast<int>(loaded.recordings.size());
  if (silent > 0) {
    job.note(fmt::format("{} of {} left no recording: they make the same calls as the others",
                         silent, plural(static_cast<std::size_t>(world), "rank", "ranks")));
  }
  return job;
}

}  // namespace ringside::study

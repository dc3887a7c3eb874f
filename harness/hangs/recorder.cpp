#include "harness/hangs/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/pytorch_types.h"

namespace ringside::hangs {
namespace {

/// The watchdog checks the works every 100 ms.
constexpr std::int64_t kPoll = 100'000'000;

struct OpWords {
  Collective collective;  ///< the name that NCCL's backend records, except for a barrier
  const char* gloo;
  const char* work;
};
constexpr std::array<OpWords, 9> kOpWords{
    OpWords{Collective::AllReduce, "all_reduce", "ALLREDUCE"},
    OpWords{Collective::AllGather, "all_gather", "_ALLGATHER_BASE"},
    OpWords{Collective::ReduceScatter, "all_reduce", "_REDUCE_SCATTER_BASE"},
    OpWords{Collective::Broadcast, "broadcast", "BROADCAST"},
    OpWords{Collective::Reduce, "reduce", "REDUCE"},
    OpWords{Collective::AllToAll, "all_to_all", "ALLTOALL_BASE"},
    OpWords{Collective::AllReduce, "barrier", "BARRIER"},
    OpWords{Collective::Send, "send", "SEND"},
    OpWords{Collective::Recv, "recv", "RECV"}};

const OpWords& words_of(Op op) { return kOpWords[static_cast<std::size_t>(op)]; }

/// Returns the time of the watchdog's first check after `time`.
std::int64_t noticed(std::int64_t time, int rank) {
  const std::int64_t offset = (rank * 7'919'000LL) % kPoll;
  return (time - offset + kPoll) / kPoll * kPoll + offset;
}

bool is_over(std::int64_t time, std::int64_t moment) { return time != kNever && time <= moment; }

/// Returns whether two consecutive records belong to one set of sends and receives that began together.
bool are_of_one_set(const Record& a, const Record& b) {
  return is_p2p(a.step->op) && a.step->bundle != 0 && a.step->bundle == b.step->bundle &&
         a.p2p_seq == b.p2p_seq && a.iteration == b.iteration;
}

/// Returns whether an entry follows that marks the end of a set. A single call is not a set.
bool ends_set(const std::vector<Record>& records, std::size_t index) {
  const bool is_set = index > 0 && are_of_one_set(records[index - 1], records[index]);
  return is_set &&
         (index + 1 == records.size() || !are_of_one_set(records[index], records[index + 1]));
}

Entry make_entry(const Record& record, int rank, const Recorder& recorder, std::int64_t moment,
                 std::int64_t epoch) {
  Entry entry;
  entry.record = &record;
  entry.created_ns = epoch + record.created;
  const bool is_completed = is_over(record.completed, moment);
  const bool is_started = is_over(record.started, moment);
  if (recorder.is_gloo) {
    entry.state = "scheduled";
    entry.is_retired = is_completed;
    return entry;
  }
  entry.state = is_completed                        ? "completed"
                : is_started && recorder.has_timing ? "started"
                                                    : "scheduled";
  if (is_started && recorder.has_timing && noticed(record.started, rank) <= moment) {
    entry.started_ns = epoch + noticed(record.started, rank);
  }
  if (is_completed && noticed(record.completed, rank) <= moment) {
    entry.completed_ns = epoch + noticed(record.completed, rank);
    entry.is_retired = true;
    if (recorder.has_timing) {
      entry.duration_ms = static_cast<double>(record.completed - record.started) / 1e6;
    }
  }
  return entry;
}

/// Returns the number of calls that the rank had made by the time. Calls are made in order, so they are a prefix.
std::size_t calls_until(const RankHistory& history, std::int64_t moment) {
  const auto end =
      std::partition_point(history.records.begin(), history.records.end(),
                           [moment](const Record& record) { return record.created <= moment; });
  return static_cast<std::size_t>(end - history.records.begin());
}

}  // namespace

const std::vector<Release>& releases() {
  static const std::vector<Release> all{
      {"2.2.2", "", "2.19.3", "nccl_trace_rank_", 2},
      {"2.3.1", "1.4", "2.20.5", "nccl_trace_rank_", 3},
      {"2.4.0", "2.1", "2.20.5", "nccl_trace_rank_", 4},
      {"2.4.0", "2.2", "2.20.5", "nccl_trace_rank_", 4},
      {"2.4.1", "2.3", "2.20.5", "nccl_trace_rank_", 4},
      {"2.5.1", "2.4", "2.21.5", "nccl_trace_rank_", 5},
      {"2.6.0", "2.5", "2.21.5", "nccl_trace_rank_", 6},
      {"2.7.1", "2.7", "2.26.2", "nccl_trace_rank_", 7},
      {"2.8.0", "2.9", "2.27.3", "nccl_trace_rank_", 8},
      {"2.10.0", "2.10", "2.28.9", "comm_lib_trace_rank_", 10},
  };
  return all;
}

bool has_format(const Release& release, int major, int minor) {
  return ringside::has_format(release.format, major, minor);
}

std::size_t entries_until(const RankHistory& history, std::int64_t moment) {
  const std::size_t calls = calls_until(history, moment);
  std::size_t entries = calls;
  for (std::size_t i = 0; i < calls; ++i) {
    if (ends_set(history.records, i)) ++entries;
  }
  return entries;
}

Snapshot take_snapshot(const Program& program, const RankHistory& history, int rank,
                       const Recorder& recorder, std::int64_t moment, std::int64_t epoch) {
  Snapshot snapshot;
  snapshot.rank = rank;
  for (const int group : program.group_of[static_cast<std::size_t>(rank)]) {
    if (group >= 0) snapshot.groups.push_back(group);
  }
  std::vector<int> pg_ids(program.groups.size(), -1);
  for (std::size_t i = 0; i < snapshot.groups.size(); ++i) {
    pg_ids[static_cast<std::size_t>(snapshot.groups[i])] = static_cast<int>(i);
  }
  std::vector<GroupStatus> status(snapshot.groups.size());

  const std::size_t count = calls_until(history, moment);
  const std::size_t all = entries_until(history, moment);
  const auto kept = static_cast<std::size_t>(recorder.capacity);
  const std::size_t first = all > kept ? all - kept : 0;
  snapshot.entries.reserve(recorder.is_only_active ? 0 : all - first);
  std::size_t id = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Record& record = history.records[i];
    const int pg_id = pg_ids[static_cast<std::size_t>(record.step->group)];
    GroupStatus& group = status[static_cast<std::size_t>(pg_id)];
    group.pg_id = pg_id;
    group.group = record.step->group;
    group.enqueued = record.seq();
    if (recorder.has_timing && is_over(record.started, moment)) group.started = record.seq();
    if (is_over(record.completed, moment)) group.completed = record.seq();
    for (int is_end = 0; is_end <= (ends_set(history.records, i) ? 1 : 0); ++is_end) {
      const std::size_t number = id++;
      if (number < first || (recorder.is_only_active && is_over(record.completed, moment)))
        continue;
      Entry entry = make_entry(record, rank, recorder, moment, epoch);
      entry.is_end = is_end != 0;
      entry.record_id = static_cast<int>(number);
      entry.pg_id = pg_id;
      snapshot.entries.push_back(entry);
    }
  }
  for (const GroupStatus& group : status) {
    if (group.enqueued >= 0) snapshot.status.push_back(group);
  }
  return snapshot;
}

std::pair<std::int64_t, std::int64_t> numel(const Program& program, const Step& step) {
  const auto members =
      static_cast<std::int64_t>(program.groups[static_cast<std::size_t>(step.group)].ranks.size());
  switch (step.op) {
    case Op::AllGather:
      return {step.count, step.count * members};
    case Op::ReduceScatter:
      return {step.count * members, step.count};
    default:
      return {step.count, step.count};
  }
}

CallText describe(const Program& program, const Step& step, bool is_end, int rank,
                  const Recorder& recorder) {
  CallText text;
  const OpWords& words = words_of(step.op);
  const char* const barrier = step.op == Op::Barrier ? "_barrier" : "";
  text.profiling_name = recorder.is_gloo
                            ? fmt::format("gloo:{}", words.gloo)
                            : fmt::format("nccl:{}{}", recorded_name(words.collective), barrier);
  if (is_end) {
    text.profiling_name = fmt::format("nccl:{}", recorded_name(Collective::SendRecv));
  } else if (is_p2p(step.op)) {
    const int self = group_rank(program.groups[static_cast<std::size_t>(step.group)], rank);
    text.profiling_name += step.op == Op::Send ? fmt::format(" {}->{}", self, step.peer)
                                               : fmt::format(" {}<-{}", self, step.peer);
  }
  const auto [input, output] = numel(program, step);
  text.input = {input};
  text.output = {output};
  if (recorder.is_gloo && step.op == Op::AllGather) text.output = {output / input, input};
  if (recorder.is_gloo && step.op == Op::ReduceScatter) text.output = text.input;
  text.type = pytorch_name(step.type);
  return text;
}

std::vector<Frame> frames_of(const Program& program, const Step& step, int depth) {
  struct Place {
    const char* function;
    int line;
  };
  constexpr std::array<Place, 9> kPlaces{Place{"all_reduce", 2806},
                                         Place{"all_gather_into_tensor", 3709},
                                         Place{"reduce_scatter_tensor", 4233},
                                         Place{"broadcast", 2730},
                                         Place{"reduce", 2970},
                                         Place{"all_to_all_single", 4500},
                                         Place{"barrier", 4640},
                                         Place{"send", 2360},
                                         Place{"recv", 2412}};
  const Place& place = kPlaces[static_cast<std::size_t>(step.op)];
  const Group& group = program.groups[static_cast<std::size_t>(step.group)];
  const std::string& family = program.families[static_cast<std::size_t>(group.family)];
  const std::string torch = "/opt/venv/lib/python3.11/site-packages/torch/distributed/";
  std::vector<Frame> frames{
      {place.function, torch + "distributed_c10d.py", place.line},
      {"wrapper", torch + "c10d_logger.py", 81},
      {"communicate_" + family, "/workspace/train/parallel.py", 40 + 3 * step.site}};
  // A module's call takes three frames.
  const std::string module = "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py";
  constexpr int kOthers = 6;
  for (int i = 0; i < depth - kOthers; ++i) {
    const int level = i / 3;
    if (i % 3 == 0) frames.push_back({"forward", "/workspace/train/model.py", 60 + 20 * level});
    if (i % 3 == 1) frames.push_back({"_call_impl", module, 1747});
    if (i % 3 == 2) frames.push_back({"_wrapped_call_impl", module, 1736});
  }
  frames.push_back({"train_step", "/workspace/train/loop.py", 100 + 2 * step.site});
  frames.push_back({"main", "/workspace/train/loop.py", 310});
  frames.push_back({"<module>", "/workspace/train/loop.py", 318});
  return frames;
}

const char* work_name(Op op) { return words_of(op).work; }

}  // namespace ringside::hangs

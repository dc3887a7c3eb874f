#include "harness/hangs/dump.h"

#include <map>
#include <utility>

namespace ringside::hangs {
namespace {

/// Threads of equal programs have similar addresses.
std::uint64_t thread_of(int rank) {
  return 140'418'060'358'144U + 4096U * static_cast<std::uint64_t>(rank);
}

}  // namespace

FlightDump flight_dump(const Program& program, const Snapshot& snapshot, const Recorder& recorder) {
  FlightDump dump;
  dump.format = recorder.release.format;
  dump.library = recorder.is_gloo ? "" : recorder.release.nccl;
  dump.thread_name = "python3";
  dump.has_frames = recorder.has_frames;
  dump.timeout_ms = recorder.timeout_ms;
  for (const int index : snapshot.groups) {
    const Group& group = program.groups[static_cast<std::size_t>(index)];
    const int pg_id = static_cast<int>(dump.groups.size());
    dump.groups.push_back({pg_id, group.name, group.desc, group.ranks});
  }
  for (const GroupStatus& one : snapshot.status) {
    dump.status.push_back({one.pg_id, one.enqueued, one.started, one.completed});
  }
  std::map<std::pair<const Step*, bool>, const FlightDump::Call*> calls;
  dump.entries.reserve(snapshot.entries.size());
  for (const Entry& entry : snapshot.entries) {
    const Step& step = *entry.record->step;
    const FlightDump::Call*& call = calls[{&step, entry.is_end}];
    if (call == nullptr) {
      CallText text = describe(program, step, entry.is_end, snapshot.rank, recorder);
      FlightDump::Call& made = dump.calls.emplace_back();
      made.profiling_name = std::move(text.profiling_name);
      made.input = std::move(text.input);
      made.output = std::move(text.output);
      made.type = text.type;
      if (recorder.has_roots && has_root(step.op)) made.root = step.peer;
      if (recorder.has_frames) made.frames = frames_of(program, step, recorder.frames);
      call = &made;
    }
    FlightDump::Entry& out = dump.entries.emplace_back();
    out.call = call;
    out.group = entry.pg_id;
    out.record_id = entry.record_id;
    out.collective_seq = entry.record->collective_seq;
    out.p2p_seq = entry.record->p2p_seq;
    out.op_id = out.collective_seq + out.p2p_seq;
    out.is_p2p = is_p2p(step.op);
    out.state = entry.state;
    out.created_ns = entry.created_ns;
    out.started_ns = entry.started_ns;
    out.completed_ns = entry.completed_ns;
    out.duration_ms = entry.duration_ms;
    out.is_retired = entry.is_retired;
    out.thread = thread_of(snapshot.rank);
  }
  return dump;
}

}  // namespace ringside::hangs

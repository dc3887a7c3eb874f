#include "diag/hangdetect/readers/log_dumps.h"

#include <algorithm>
#include <string_view>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

using logs::MessageId;

/// `[Rank 3] ` inside the line, of a work before 2.2: there the group is the default one.
int rank_in_text(std::string_view line) {
  const std::size_t at = line.find("[Rank ");
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = line.substr(at + 6);
  return static_cast<int>(
      parse_whole(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1));
}

}  // namespace

void LogDumps::take(const logs::Record& record, int rank) {
  if (rank < 0) rank = logs::torch_prefix(record).group_rank;
  if (rank < 0) rank = rank_in_text(record.line);
  if (rank < 0 || rank > (1 << 20)) return;
  if (logs::is_message(record, MessageId::WatchdogTimeout)) {
    take_timeout(record, rank);
  } else if (logs::is_message(record, MessageId::WatchdogStatus)) {
    take_status(record, rank);
  } else if (logs::is_message(record, MessageId::DumpSignal)) {
    take_signal(record, rank);
  }
}

void LogDumps::take_signal(const logs::Record& record, int rank) {
  constexpr std::int64_t kNothing = -2;
  Signal signal;
  signal.enqueued = logs::message_number(record, "enqueued", kNothing);
  signal.completed = logs::message_number(record, "completed", kNothing);
  if (signal.enqueued == kNothing || signal.completed == kNothing) return;
  const logs::TorchPrefix prefix = logs::torch_prefix(record);
  signal.group.group = prefix.pg_guid;
  signal.group.description = prefix.pg_desc;
  signal.group.group_number = prefix.pg_id;
  signal.group.group_rank = prefix.group_rank;
  signal.group.sequence = std::max<std::int64_t>(0, signal.enqueued);
  signal.group.place = record.place;
  signals_.insert_or_assign(rank, std::move(signal));
}

void LogDumps::take_line(const logs::Record& record, int rank) {
  const std::size_t at = record.line.find("WorkNCCL(");
  if (at == std::string_view::npos) return;
  if (rank < 0) rank = rank_in_text(record.line);
  if (rank < 0 || rank > (1 << 20)) return;
  const std::string_view rest = record.line.substr(at);
  add_timeout(rest.substr(0, rest.find(") ran for") + 1), record, rank);
}

void LogDumps::take_timeout(const logs::Record& record, int rank) {
  add_timeout(logs::message_argument(record, "work"), record, rank);
}

void LogDumps::add_timeout(std::string_view text, const logs::Record& record, int rank) {
  const logs::TorchWork work = logs::parse_work(text);
  if (work.operation.empty()) return;
  ++timeouts_;
  const Op op = op_of(work.operation);
  const std::int64_t more = op == Op::AllGather ? work.numel_out : work.numel_in;
  const std::int64_t less = op == Op::AllGather ? work.numel_in : work.numel_out;
  const bool tells_size = (op == Op::AllGather || op == Op::ReduceScatter) && less > 0 &&
                          more % less == 0 && more / less >= 2 && more / less <= kMostRanks;
  if (tells_size) world_ = std::max(world_, static_cast<int>(more / less));
  std::vector<Waiting>& all = waiting_[rank];
  const bool is_known = std::any_of(all.begin(), all.end(), [&](const Waiting& one) {
    return one.sequence == work.sequence && one.operation == work.operation &&
           one.numel_in == work.numel_in && one.numel_out == work.numel_out;
  });
  if (is_known) return;
  // The status can stand before the exception whose text has the work.
  const auto open = std::find_if(all.begin(), all.end(), [&](const Waiting& one) {
    return one.operation.empty() && one.sequence == work.sequence;
  });
  if (open != all.end()) {
    open->has_timed_out = true;
    open->operation = work.operation;
    open->numel_in = work.numel_in;
    open->numel_out = work.numel_out;
    open->timeout_ms = std::max<std::int64_t>(0, work.timeout_ms);
    return;
  }
  Waiting one;
  one.has_timed_out = true;
  one.sequence = work.sequence >= 0 ? work.sequence : 0;
  one.operation = work.operation;
  one.numel_in = work.numel_in;
  one.numel_out = work.numel_out;
  one.timeout_ms = std::max<std::int64_t>(0, work.timeout_ms);
  one.place = record.place;
  // The text of a work has the rank's place in the group, before 2.2 and where a later line is its prefix.
  one.group_rank = rank_in_text(record.line);
  all.push_back(std::move(one));
}

void LogDumps::take_status(const logs::Record& record, int rank) {
  const std::int64_t enqueued = logs::message_number(record, "enqueued");
  const std::int64_t completed = logs::message_number(record, "completed");
  std::int64_t at = logs::message_number(record, "at");
  // Without the number that failed: the call after the last completed one, if one was enqueued.
  if (at < 0 && enqueued >= 0) at = std::min(std::max<std::int64_t>(completed, 0) + 1, enqueued);
  const logs::TorchPrefix prefix = logs::torch_prefix(record);
  std::vector<Waiting>& all = waiting_[rank];
  // Two groups of a rank can wait at the same number: a status belongs to the time-out before it.
  auto same = std::find_if(all.begin(), all.end(), [&](const Waiting& one) {
    return one.sequence == at &&
           (!one.has_group() || prefix.pg_id < 0 ||
            (one.group == prefix.pg_guid && one.group_number == prefix.pg_id));
  });
  if (same == all.end()) {
    Waiting one;
    one.sequence = at;
    one.place = record.place;
    all.push_back(std::move(one));
    same = all.end() - 1;
  }
  // What was never set is garbage in 2.2 and 2.3: no job has a thousand million calls in flight.
  if (enqueued >= at && enqueued < at + 1'000'000) same->enqueued = enqueued;
  same->completed = std::max(same->completed, completed);
  if (!prefix.pg_guid.empty()) same->group = prefix.pg_guid;
  if (!prefix.pg_desc.empty()) same->description = prefix.pg_desc;
  if (prefix.pg_id >= 0) same->group_number = prefix.pg_id;
  if (prefix.group_rank >= 0) same->group_rank = prefix.group_rank;
}

void LogDumps::adopt(Waiting& one) const {
  for (const auto& [rank, all] : waiting_) {
    for (const Waiting& other : all) {
      if (other.operation.empty() || other.sequence != one.sequence) continue;
      if (other.has_group() != one.has_group() || other.group != one.group) continue;
      if (other.description != one.description) continue;
      one.operation = other.operation;
      one.numel_in = other.numel_in;
      one.numel_out = other.numel_out;
      return;
    }
  }
}

std::optional<GroupName> LogDumps::group_of(const Waiting& one, int rank,
                                            const LogGroups& groups) const {
  if (!one.group.empty()) {
    return GroupName{one.group, one.group == "0" ? "default_pg" : one.description};
  }
  GroupHint hint;
  hint.rank = rank;
  hint.group_rank = one.group_rank;
  hint.number = one.group_number;
  hint.description = one.description;
  hint.sequence = static_cast<std::uint32_t>(one.sequence);
  hint.op = op_of(one.operation);
  hint.input_count = one.numel_in;
  return groups.find(hint);
}

std::vector<RankDump> LogDumps::finish(const WhereFunction& where, const LogGroups& groups) {
  // A torn line can lose the work and leave its status: the others of the group say what it was.
  for (auto& [rank, all] : waiting_) {
    for (Waiting& one : all) {
      if (one.operation.empty()) adopt(one);
    }
  }
  std::vector<RankDump> dumps;
  for (auto& [rank, all] : waiting_) {
    RankDump dump;
    dump.rank = rank;
    dump.version = "log";
    for (const Waiting& one : all) {
      if (one.sequence < 0) continue;
      const auto group = group_of(one, rank, groups);
      if (!group) continue;
      const auto [file, line] = where(one.place);
      if (dump.path.empty()) dump.path = file;
      add_call(one, *group, line, dump);
    }
    if (dump.calls.empty()) {
      unplaced_.push_back(rank);
    } else {
      dumps.push_back(std::move(dump));
    }
  }
  // The first watchdog that times out tells all processes to dump. One that obeys, and whose own watchdog
  // reports nothing, stands in no call.
  for (const auto& [rank, signal] : signals_) {
    const auto group = group_of(signal.group, rank, groups);
    if (!group) continue;
    const auto [file, line] = where(signal.group.place);
    const auto known = std::find_if(dumps.begin(), dumps.end(),
                                    [own = rank](const RankDump& one) { return one.rank == own; });
    if (known != dumps.end()) {
      add_signal(signal, *group, line, *known);
    } else if (waiting_.count(rank) == 0) {
      RankDump dump;
      dump.rank = rank;
      dump.version = "log";
      dump.path = file;
      add_signal(signal, *group, line, dump);
      dumps.push_back(std::move(dump));
    }
  }
  return dumps;
}

void LogDumps::add_signal(const Signal& signal, const GroupName& group, std::int64_t line,
                          RankDump& dump) {
  if (signal.enqueued <= 0) return;
  Call call;
  call.record = static_cast<std::uint64_t>(line);
  call.pg = static_cast<std::int32_t>(dump.calls.size());
  call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                [&] { return group; });
  const bool is_known = std::any_of(dump.calls.begin(), dump.calls.end(),
                                    [&](const Call& one) { return one.group == call.group; });
  if (is_known) return;
  const bool is_waiting = signal.completed < signal.enqueued;
  call.sequence = static_cast<std::uint32_t>(
      is_waiting ? std::max<std::int64_t>(1, signal.completed + 1) : signal.enqueued);
  call.state = is_waiting ? CallState::Scheduled : CallState::Completed;
  dump.statuses.push_back({call.pg, signal.enqueued, -1, signal.completed});
  dump.calls.push_back(call);
}

void LogDumps::add_call(const Waiting& one, const GroupName& group, std::int64_t line,
                        RankDump& dump) {
  Call call;
  call.record = static_cast<std::uint64_t>(line);
  call.sequence = static_cast<std::uint32_t>(one.sequence);
  call.pg = static_cast<std::int32_t>(dump.calls.size());
  call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                [&] { return group; });
  const Op op = op_of(one.operation);
  const std::uint64_t hash =
      mix(mix(hash_text(one.operation), static_cast<std::uint64_t>(one.numel_in)),
          static_cast<std::uint64_t>(one.numel_out));
  call.signature = names_.add_signature(hash, [&] {
    Signature made;
    made.name = one.operation;
    made.op = op;
    made.backend = "nccl";
    made.input_count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.numel_in));
    made.output_count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.numel_out));
    made.inputs = "[[" + std::to_string(made.input_count) + "]]";
    made.outputs = "[[" + std::to_string(made.output_count) + "]]";
    return made;
  });
  call.is_p2p = op == Op::Send || op == Op::Recv;
  dump.timeout_ms = std::max(dump.timeout_ms, one.timeout_ms);
  // Completed as far as enqueued: nothing waits there.
  const bool is_idle = !one.has_timed_out && one.completed >= std::max(one.sequence, one.enqueued);
  if (is_idle) call.state = CallState::Completed;
  dump.statuses.push_back({call.pg, std::max(one.enqueued, one.sequence), -1,
                           is_idle ? one.completed : one.sequence - 1});
  dump.calls.push_back(call);
}

}  // namespace ringside::hang

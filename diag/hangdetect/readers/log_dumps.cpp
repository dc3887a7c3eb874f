#include "diag/hangdetect/readers/log_dumps.h"

#include <algorithm>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"

namespace ringside::hang {
namespace {

/// Returns the number of elements of a tensor of shape `1024, 8`; 1 for a text without numbers, as a scalar has none.
std::uint64_t elements_of(std::string_view shape) {
  std::uint64_t product = 1;
  while (!shape.empty()) {
    const std::size_t first = std::min(shape.find_first_of("0123456789"), shape.size());
    shape.remove_prefix(first);
    const std::size_t end = std::min(shape.find_first_not_of("0123456789"), shape.size());
    const auto size = parse_whole(shape.substr(0, end));
    if (!size) break;
    product *= static_cast<std::uint64_t>(*size);
    shape.remove_prefix(end);
  }
  return product;
}

}  // namespace

std::optional<GroupName> LogDumps::group_of(const job::Wait& one, int rank, std::int64_t sequence,
                                            const LogGroups& groups) {
  if (!one.group.empty()) {
    return GroupName{one.group, one.group == "0" ? "default_pg" : one.description};
  }
  GroupHint hint;
  hint.rank = rank;
  hint.group_rank = one.group_rank;
  hint.number = one.group_number;
  hint.description = one.description;
  hint.sequence = static_cast<std::uint32_t>(sequence);
  hint.op = op_of(one.operation);
  hint.input_count = one.numel_in;
  return groups.find(hint);
}

bool LogDumps::shows_subgroups() const {
  for (const auto& [rank, all] : waits_.by_rank()) {
    for (const job::Wait& one : all) {
      if (one.group_rank >= 0 && one.group_rank != rank) return true;
    }
  }
  return false;
}

std::vector<RankDump> LogDumps::finish(const WhereFunction& where, const LogGroups& groups) {
  waits_.complete();
  // Then a call whose line names no group may belong to any group.
  const bool may_be_of_any = !groups.has_any() && shows_subgroups();
  std::vector<RankDump> dumps;
  for (const auto& [rank, all] : waits_.by_rank()) {
    RankDump dump;
    dump.rank = rank;
    dump.version = "log";
    for (const job::Wait& one : all) {
      const bool is_named = one.has_group() || !one.description.empty();
      const auto group = may_be_of_any && !is_named
                             ? std::nullopt
                             : group_of(one, rank, std::max<std::int64_t>(0, one.sequence), groups);
      const bool is_stated = one.sequence >= 0 || !one.operation.empty();
      if (!is_stated || !group) continue;
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
  // The first watchdog that times out signals all processes to dump. A process that obeys, and whose own watchdog
  // reports nothing, is not blocked in a call.
  for (const auto& [rank, signal] : waits_.signals()) {
    const auto group =
        group_of(signal, rank, std::max<std::int64_t>(0, signal.enqueued.value_or(0)), groups);
    if (!group) continue;
    const auto [file, line] = where(signal.place);
    const auto known = std::find_if(dumps.begin(), dumps.end(),
                                    [own = rank](const RankDump& one) { return one.rank == own; });
    if (known != dumps.end()) {
      add_signal(signal, *group, line, *known);
    } else if (waits_.by_rank().count(rank) == 0) {
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

void LogDumps::add_signal(const job::Wait& signal, const GroupName& group, std::int64_t line,
                          RankDump& dump) {
  const std::int64_t enqueued = signal.enqueued.value_or(-1);
  const std::int64_t completed = signal.completed.value_or(-1);
  if (enqueued <= 0) return;
  Call call;
  call.record = static_cast<std::uint64_t>(line);
  call.pg = static_cast<std::int32_t>(dump.calls.size());
  call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                [&] { return group; });
  const bool is_known = std::any_of(dump.calls.begin(), dump.calls.end(),
                                    [&](const Call& one) { return one.group == call.group; });
  if (is_known) return;
  const bool is_waiting = completed < enqueued;
  call.sequence =
      static_cast<std::uint32_t>(is_waiting ? std::max<std::int64_t>(1, completed + 1) : enqueued);
  call.state = is_waiting ? CallState::Scheduled : CallState::Completed;
  dump.statuses.push_back({call.pg, enqueued, -1, completed});
  dump.calls.push_back(call);
}

void LogDumps::add_call(const job::Wait& one, const GroupName& group, std::int64_t line,
                        RankDump& dump) {
  Call call;
  call.record = static_cast<std::uint64_t>(line);
  const std::int64_t sequence = std::max<std::int64_t>(0, one.sequence);
  call.sequence = static_cast<std::uint32_t>(sequence);
  call.pg = static_cast<std::int32_t>(dump.calls.size());
  call.group = names_.add_group(mix(hash_text(group.name), hash_text(group.description)),
                                [&] { return group; });
  const Op op = op_of(one.operation);
  const std::uint64_t hash =
      mix(mix(hash_text(one.operation), static_cast<std::uint64_t>(one.numel_in)),
          mix(hash_text(one.shape), static_cast<std::uint64_t>(one.numel_out)));
  call.signature = names_.add_signature(hash, [&] {
    Signature made;
    made.name = one.operation;
    made.op = op;
    made.backend = "nccl";
    made.input_count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.numel_in));
    made.output_count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, one.numel_out));
    made.inputs = "[[" + std::to_string(made.input_count) + "]]";
    if (!one.shape.empty()) {  // before 2.1 a line has the shape, and no numbers of elements
      made.inputs = "[[" + one.shape + "]]";
      made.input_count = elements_of(one.shape);
    }
    made.outputs = "[[" + std::to_string(made.output_count) + "]]";
    return made;
  });
  call.is_p2p = op == Op::Send || op == Op::Recv;
  dump.timeout_ms = std::max(dump.timeout_ms, one.timeout_ms);
  // All enqueued work has completed: nothing waits there.
  if (one.is_idle()) call.state = CallState::Completed;
  dump.statuses.push_back({call.pg, std::max(one.enqueued.value_or(-1), sequence), -1,
                           one.is_idle() ? *one.completed : sequence - 1,
                           one.enqueued.has_value()});
  dump.calls.push_back(call);
}

GroupWait group_wait(const job::Wait& one) {
  std::string group = one.description.empty() ? "" : one.description + " ";
  const std::string number = one.group.empty() ? std::to_string(one.group_number) : one.group;
  group += group.empty() ? number : "(" + number + ")";
  std::string call = one.operation.empty() ? "a call" : to_string(op_of(one.operation));
  if (one.sequence >= 0) call += " " + std::to_string(one.sequence);
  return {std::move(group), one.group_rank, std::move(call)};
}

}  // namespace ringside::hang

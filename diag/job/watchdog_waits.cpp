#include "diag/job/watchdog_waits.h"

#include <algorithm>
#include <iterator>

#include "base/text_parts.h"
#include "diag/job/line_rank.h"
#include "diag/job/world_size.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::job {
namespace {

using logs::MessageId;

std::optional<std::int64_t> number_of(const logs::Record& record, std::string_view name) {
  constexpr std::int64_t kNothing = -2;
  const std::int64_t number = logs::message_number(record, name, kNothing);
  return number == kNothing ? std::nullopt : std::optional(number);
}

void name_group(const logs::TorchPrefix& prefix, Wait& wait) {
  if (!prefix.pg_guid.empty()) wait.group = prefix.pg_guid;
  if (!prefix.pg_desc.empty()) wait.description = prefix.pg_desc;
  if (prefix.pg_id >= 0) wait.group_number = prefix.pg_id;
  if (prefix.group_rank >= 0) wait.group_rank = prefix.group_rank;
}

/// Returns whether the line may be about the group in which the rank waits: it names none, or that one.
bool may_be_of(const logs::TorchPrefix& prefix, const Wait& wait) {
  if (prefix.pg_id < 0 && prefix.pg_guid.empty()) return true;
  return !wait.has_group() || (wait.group == prefix.pg_guid && wait.group_number == prefix.pg_id);
}

/// Returns the ranks that a line is about: one, or those of `[Rank 1-7]`, which people write for many lines. Empty if
/// the line has only a rank in a sub-group.
std::vector<std::int32_t> ranks_of(const logs::Record& record, int rank) {
  std::vector<std::int32_t> ranks = ranks_in_brackets(record.line);
  if (ranks.size() > 1) return ranks;
  if (rank < 0) rank = rank_before_text(record.line);
  if (rank < 0 && logs::torch_group(record).is_of_subgroup()) return {};
  if (rank < 0) rank = logs::torch_prefix(record).group_rank;
  if (rank < 0) rank = rank_in_text(record.line);
  if (rank < 0) rank = logs::torch_group(record).group_rank;
  if (rank < 0 || rank > kMostRanks) return {};
  return {rank};
}

/// Returns the name that all members use for the group. A description covers all groups of a kind, and a number
/// belongs to one process.
std::string group_key(const logs::TorchPrefix& prefix) {
  if (!prefix.pg_guid.empty()) return std::string(prefix.pg_guid);
  return std::to_string(prefix.pg_id) + " " + std::string(prefix.pg_desc);
}

void set_work(const logs::TorchWork& work, Wait& wait) {
  wait.has_timed_out = true;
  wait.operation = work.operation;
  wait.shape = work.tensor_shape;
  wait.numel_in = work.numel_in;
  wait.numel_out = work.numel_out;
  wait.timeout_ms = work.timeout_ms;
}

/// Returns the size of the group: output / input of an all-gather, input / output of a reduce-scatter.  returns  0:
/// unknown
int group_size_of(const logs::TorchWork& work) {
  const bool gathers = contains(work.operation, "ALLGATHER");
  const bool scatters = contains(work.operation, "REDUCE_SCATTER");
  const std::int64_t more = gathers ? work.numel_out : work.numel_in;
  const std::int64_t less = gathers ? work.numel_in : work.numel_out;
  const bool shows_size = (gathers || scatters) && less > 0 && more % less == 0 &&
                          more / less >= 2 && more / less <= kMostRanks;
  return shows_size ? static_cast<int>(more / less) : 0;
}

}  // namespace

bool Wait::is_idle() const {
  return !has_timed_out && enqueued && completed && *completed >= *enqueued &&
         *completed >= sequence;
}

void WatchdogWaits::take(const logs::Record& record, int rank) {
  // A person who writes one line for many ranks has listed all of them, so the other ranks did not time out.
  const std::vector<std::int32_t> listed = ranks_in_brackets(record.line);
  if (listed.size() > 1)
    world_ = std::max(world_, *std::max_element(listed.begin(), listed.end()) + 1);
  const std::vector<std::int32_t> ranks = ranks_of(record, rank);
  const logs::TorchPrefix group = logs::torch_group(record);
  const bool has_place = group.group_rank >= 0 && group.is_of_subgroup();
  for (const std::int32_t one : ranks) {
    if (has_place && ranks.size() == 1 && at_place_.size() < kMostRanks) {
      const auto [known, is_new] = rank_at_.try_emplace({group_key(group), group.group_rank}, one);
      if (known->second != one) known->second = -1;
    }
    if (logs::is_message(record, MessageId::DumpSignal)) {
      take_signal(record, one);
    } else {
      take_of(record, waits_[one]);
    }
  }
  if (!ranks.empty() || !has_place || at_place_.size() >= kMostRanks) return;
  if (logs::is_message(record, MessageId::DumpSignal)) return;
  take_of(record, at_place_[{group_key(group), group.group_rank}]);
}

void WatchdogWaits::take_of(const logs::Record& record, std::vector<Wait>& all) {
  if (logs::is_message(record, MessageId::WatchdogTimeout)) {
    take_timeout(logs::message_argument(record, "work"), logs::message_number(record, "ran"),
                 record, all);
  } else if (logs::is_message(record, MessageId::WatchdogStatus)) {
    take_status(record, all);
  }
}

void WatchdogWaits::take_line(const logs::Record& record, int rank) {
  const std::size_t at = record.line.find("WorkNCCL(");
  if (at == std::string_view::npos) return;
  const std::vector<std::int32_t> ranks = ranks_of(record, rank);
  const std::string_view rest = record.line.substr(at);
  const std::string_view work = rest.substr(0, rest.find(") ran for") + 1);
  if (ranks.size() == 1) return take_timeout(work, -1, record, waits_[ranks.front()]);
  const logs::TorchPrefix group = logs::torch_group(record);
  const bool has_place = ranks.empty() && group.group_rank >= 0 && group.is_of_subgroup();
  if (has_place && at_place_.size() < kMostRanks)
    take_timeout(work, -1, record, at_place_[{group_key(group), group.group_rank}]);
}

void WatchdogWaits::take_timeout(std::string_view text, std::int64_t ran_ms,
                                 const logs::Record& record, std::vector<Wait>& all) {
  const logs::TorchWork work = logs::parse_work(text);
  ++timeouts_;
  const logs::TorchPrefix prefix = logs::torch_group(record);
  if (!prefix.is_of_subgroup()) world_ = std::max(world_, group_size_of(work));
  const auto known = std::find_if(all.begin(), all.end(), [&](const Wait& one) {
    return one.has_timed_out && one.sequence == work.sequence && one.operation == work.operation &&
           one.numel_in == work.numel_in && one.numel_out == work.numel_out &&
           may_be_of(prefix, one);
  });
  if (known != all.end()) return name_group(prefix, *known);
  // The status can precede the exception that describes the work.
  const auto open = std::find_if(all.begin(), all.end(), [&](const Wait& one) {
    return one.operation.empty() && one.sequence == work.sequence && may_be_of(prefix, one);
  });
  if (open != all.end()) {
    open->ran_ms = ran_ms;
    return set_work(work, *open);
  }
  Wait one;
  set_work(work, one);
  one.ran_ms = ran_ms;
  one.sequence = work.sequence;
  one.place = record.place;
  // The description of a work contains the rank in the group: before 2.2, and if a later line is its prefix; `[Rank
  // 1-7]` lists many ranks.
  const bool is_of_many = ranks_in_brackets(record.line).size() > 1;
  one.group_rank = is_of_many ? -1 : rank_in_text(record.line);
  name_group(prefix, one);
  all.push_back(std::move(one));
}

void WatchdogWaits::take_status(const logs::Record& record, std::vector<Wait>& all) {
  const std::optional<std::int64_t> enqueued = number_of(record, "enqueued");
  const std::optional<std::int64_t> completed = number_of(record, "completed");
  std::int64_t at = logs::message_number(record, "at");
  // Without the number of the failed call, takes the call after the last completed one, if one was enqueued.
  if (at < 0 && enqueued.value_or(-1) >= 0) {
    at = std::min(std::max<std::int64_t>(completed.value_or(-1), 0) + 1, *enqueued);
  }
  const logs::TorchPrefix prefix = logs::torch_prefix(record);
  // Two groups of a rank can wait at the same number: a status belongs to the timeout before it.
  auto same = std::find_if(all.begin(), all.end(), [&](const Wait& one) {
    return one.sequence == at && may_be_of(prefix, one);
  });
  if (same == all.end()) {
    Wait one;
    one.sequence = at;
    one.place = record.place;
    all.push_back(std::move(one));
    same = all.end() - 1;
  }
  // In 2.2 and 2.3 an unset value is random: no job has this many calls in flight.
  constexpr std::int64_t kMostInFlight = 1'000'000;
  if (enqueued && (*enqueued < 0 || *enqueued < at + kMostInFlight)) {
    same->enqueued = std::max(same->enqueued.value_or(-1), *enqueued);
  }
  if (completed) same->completed = std::max(same->completed.value_or(-1), *completed);
  same->has_status = true;
  name_group(prefix, *same);
}

void WatchdogWaits::take_signal(const logs::Record& record, int rank) {
  Wait signal;
  signal.enqueued = number_of(record, "enqueued");
  signal.completed = number_of(record, "completed");
  if (!signal.enqueued || !signal.completed) return;
  name_group(logs::torch_prefix(record), signal);
  signal.place = record.place;
  signal.has_status = true;
  signals_.insert_or_assign(rank, std::move(signal));
}

void WatchdogWaits::adopt(Wait& one) const {
  for (const auto& [rank, all] : waits_) {
    for (const Wait& other : all) {
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

/// Corrects the wait of a process that was stopped (SIGSTOP, a debugger) and runs again. Its watchdog had checked no
/// call meanwhile, and reports the oldest one, long after the limit. The calls that it had enqueued before are over,
/// and the one in which the others wait is not among them.
/// source  a job on an H200 with PyTorch 2.11: tests/hangdetect/jobs/h200-a-stopped-process
void WatchdogWaits::correct_frozen(Wait& one) {
  constexpr std::int64_t kLeastLate_ms = 10'000;
  const std::int64_t late_ms = one.ran_ms - one.timeout_ms;
  const bool is_late = one.timeout_ms > 0 && late_ms > std::max(one.timeout_ms / 2, kLeastLate_ms);
  const bool has_looked_at_none = one.completed.value_or(0) < 0;
  if (!is_late || !has_looked_at_none || one.enqueued.value_or(-1) <= one.sequence) return;
  one.has_timed_out = false;
  one.operation.clear();
  one.shape.clear();
  one.numel_in = one.numel_out = -1;
  one.sequence = *one.enqueued;
  one.completed = one.enqueued;
}

/// Finds the global rank of a rank in a group, if all lines that contain both agree.
void WatchdogWaits::place() {
  for (auto& [place, all] : at_place_) {
    const auto known = rank_at_.find(place);
    std::vector<Wait>& own =
        known != rank_at_.end() && known->second >= 0 ? waits_[known->second] : of_places_;
    own.insert(own.end(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
  }
  at_place_.clear();
}

void WatchdogWaits::complete() {
  place();
  for (auto& [rank, all] : waits_) {
    for (Wait& one : all) {
      if (one.operation.empty()) adopt(one);
      correct_frozen(one);
    }
  }
}

}  // namespace ringside::job

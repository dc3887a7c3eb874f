#include "diag/audit/rules/waits.h"

#include <algorithm>

#include "diag/logparse/torch_lines.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// Digits behind a word of the line, such as `Rank 3]`.
std::int32_t number_behind(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return -1;
  std::int32_t number = -1;
  for (std::size_t i = at + word.size(); i < line.size() && line[i] >= '0' && line[i] <= '9'; ++i) {
    if (number > 10'000'000) return -1;
    number = std::max(number, 0) * 10 + (line[i] - '0');
  }
  return number;
}

}  // namespace

std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message) {
  const Record record = message.record();
  const TorchPrefix prefix = torch_prefix(record);
  if (prefix.global_rank >= 0) return prefix.global_rank;
  const ProcessFacts& process = facts.processes[message.process()];
  if (process.launcher_rank >= 0) return process.launcher_rank;
  if (prefix.group_rank >= 0) return prefix.group_rank;
  const std::int32_t rank = number_behind(message.line(), "Rank ");
  return rank >= 0 ? rank : number_behind(message.line(), "[rank");
}

namespace {

/// Whom a line speaks for: one rank, or those of the `[Rank 1-7]` that people write for many lines.
std::vector<std::int32_t> ranks_of(const JobFacts& facts, const KeptMessage& message) {
  const std::string_view line = message.line();
  const std::size_t at = line.find("[Rank ");
  const std::size_t end = at == std::string_view::npos ? at : line.find(']', at);
  if (end != std::string_view::npos && end - at < 80) {
    const std::string_view list = line.substr(at + 6, end - at - 6);
    if (list.find_first_not_of("0123456789-, ") == std::string_view::npos &&
        list.find_first_of("-,") != std::string_view::npos) {
      return parse_rank_list(list);
    }
  }
  const std::int32_t rank = rank_of(facts, message);
  return rank < 0 ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{rank};
}

}  // namespace

std::vector<std::int32_t> Waits::silent() const {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < nranks; ++rank) {
    if (timed_out.count(rank) == 0) ranks.push_back(rank);
  }
  return ranks;
}

Waits waits_of(const JobFacts& facts) {
  Waits waits;
  std::int32_t highest = -1;
  for (const KeptMessage& message : facts.messages[MessageId::WatchdogTimeout].kept) {
    for (const std::int32_t rank : ranks_of(facts, message)) {
      highest = std::max(highest, rank);
      Waiting& waiting = waits.by_rank[rank];
      waits.timed_out.insert(rank);
      if (waiting.has_timed_out) continue;  // the exception repeats it
      waiting.has_timed_out = true;
      const TorchWork work = parse_work(message.argument("work"));
      waiting.sequence = work.sequence;
      waiting.numel_in = work.numel_in;
      waiting.numel_out = work.numel_out;
      waiting.timeout_ms = work.timeout_ms;
      waiting.operation = work.operation;
      waiting.shape = work.tensor_shape;
      waiting.quoted = {message.place(), message.process(), quotable(message.line())};
    }
  }
  for (const MessageId id : {MessageId::WatchdogStatus, MessageId::DumpSignal}) {
    for (const KeptMessage& message : facts.messages[id].kept) {
      const std::int32_t rank = rank_of(facts, message);
      const std::int64_t enqueued = message.number("enqueued", -2);
      if (rank < 0 || enqueued == -2) continue;
      highest = std::max(highest, rank);
      Waiting& waiting = waits.by_rank[rank];
      if (waiting.enqueued != -2) continue;
      waiting.at = message.number("at");
      if (id == MessageId::WatchdogStatus) waits.timed_out.insert(rank);
      waiting.enqueued = enqueued;
      waiting.completed = message.number("completed", -2);
      waiting.status = {message.place(), message.process(), quotable(message.line())};
      const TorchPrefix prefix = torch_prefix(message.record());
      waiting.group = prefix.pg_guid.empty() && prefix.pg_id >= 0 ? std::to_string(prefix.pg_id)
                                                                  : std::string(prefix.pg_guid);
      if (waiting.quoted.text.empty()) {
        waiting.quoted = {message.place(), message.process(), quotable(message.line())};
      }
    }
  }
  const CommFacts* world = facts.world();
  if (world != nullptr) waits.nranks = world->nranks;
  // Without a communicator's line: the ranks up to the highest that is heard of, if nearly all are.
  constexpr std::int32_t kSeveral = 8;
  if (waits.nranks < 0 && highest + 1 >= kSeveral &&
      static_cast<std::size_t>(highest + 1) <= waits.timed_out.size() + 1) {
    waits.nranks = highest + 1;
  }
  return waits;
}

}  // namespace ringside::audit

#include "diag/audit/rules/waits.h"

#include <algorithm>

#include "diag/job/line_rank.h"
#include "diag/job/watchdog_waits.h"
#include "diag/job/world_size.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// The lines that a wait was told by, as findings quote them.
class Quotes {
 public:
  void add(const KeptMessage& message) { lines_.emplace(message.place(), &message); }
  [[nodiscard]] QuotedLine at(Place place) const {
    const auto line = lines_.find(place);
    if (line == lines_.end()) return {};
    const KeptMessage& message = *line->second;
    return {message.place(), message.process(), quotable(message.line())};
  }

 private:
  std::map<Place, const KeptMessage*> lines_;
};

std::string group_of(const job::Wait& wait) {
  return wait.group.empty() && wait.group_number >= 0 ? std::to_string(wait.group_number)
                                                      : wait.group;
}

void take_status(const job::Wait& wait, const Quotes& quotes, Waiting& waiting) {
  constexpr std::int64_t kNotSaid = -2;
  waiting.at = wait.sequence;
  waiting.enqueued = wait.enqueued.value_or(kNotSaid);
  waiting.completed = wait.completed.value_or(kNotSaid);
  waiting.group = group_of(wait);
  waiting.status = quotes.at(wait.status_place);
  if (waiting.quoted.text.empty()) waiting.quoted = waiting.status;
}

/// The oldest call that timed out stands for the rank, and the first status.
Waiting waiting_of(const std::vector<job::Wait>& waits, const Quotes& quotes) {
  Waiting waiting;
  for (const job::Wait& wait : waits) {
    if (!wait.has_timed_out || waiting.has_timed_out) continue;
    waiting.has_timed_out = true;
    waiting.sequence = wait.sequence;
    waiting.numel_in = wait.numel_in;
    waiting.numel_out = wait.numel_out;
    waiting.timeout_ms = wait.timeout_ms;
    waiting.operation = wait.operation;
    waiting.shape = wait.shape;
    waiting.quoted = quotes.at(wait.place);
  }
  const auto status = std::find_if(waits.begin(), waits.end(),
                                   [](const job::Wait& wait) { return wait.has_status; });
  if (status != waits.end()) take_status(*status, quotes, waiting);
  return waiting;
}

/// How many ranks the job has, where something says it.  returns  -1: nothing does
std::int32_t size_of(const JobFacts& facts, const job::WatchdogWaits& waits) {
  if (facts.world() != nullptr && facts.world()->nranks > 0) return facts.world()->nranks;
  job::WorldSize size;
  for (const MessageId id :
       {MessageId::AnalyserField, MessageId::TorchGroupOptions, MessageId::InitBarrierTimeout}) {
    for (const KeptMessage& message : facts.messages[id].kept) size.take(message.record());
  }
  for (const KeptLine& line : facts.plain_of(PlainLine::WorldSize).kept)
    size.know(job::world_in(line.quoted.text));
  size.know(waits.world());
  return size.ranks() > 0 ? size.ranks() : -1;
}

}  // namespace

std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message) {
  const TorchPrefix prefix = torch_prefix(message.record());
  if (prefix.global_rank >= 0) return prefix.global_rank;
  const ProcessFacts& process = facts.processes[message.process()];
  if (process.launcher_rank >= 0) return process.launcher_rank;
  if (prefix.group_rank >= 0) return prefix.group_rank;
  return job::rank_in_text(message.line());
}

std::vector<std::int32_t> Waits::silent() const {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < nranks; ++rank) {
    if (timed_out.count(rank) == 0) ranks.push_back(rank);
  }
  return ranks;
}

Waits waits_of(const JobFacts& facts) {
  job::WatchdogWaits all;
  Quotes quotes;
  for (const MessageId id :
       {MessageId::WatchdogTimeout, MessageId::WatchdogStatus, MessageId::DumpSignal}) {
    for (const KeptMessage& message : facts.messages[id].kept) {
      quotes.add(message);
      all.take(message.record(), rank_of(facts, message));
    }
  }
  Waits waits;
  for (const auto& [rank, some] : all.by_rank()) {
    waits.by_rank[rank] = waiting_of(some, quotes);
    const bool are_idle =
        std::all_of(some.begin(), some.end(), [](const job::Wait& wait) { return wait.is_idle(); });
    if (!are_idle) waits.timed_out.insert(rank);
  }
  for (const auto& [rank, signal] : all.signals()) {
    Waiting& waiting = waits.by_rank[rank];
    constexpr std::int64_t kNotSaid = -2;
    if (waiting.enqueued == kNotSaid) take_status(signal, quotes, waiting);
  }
  waits.nranks = size_of(facts, all);
  return waits;
}

}  // namespace ringside::audit

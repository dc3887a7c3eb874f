#include "diag/audit/rules/waits.h"

#include <algorithm>

#include "diag/job/line_rank.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message) {
  const TorchPrefix prefix = torch_prefix(message.record());
  if (prefix.global_rank >= 0) return prefix.global_rank;
  const ProcessFacts& process = facts.processes[message.process()];
  if (process.launcher_rank >= 0) return process.launcher_rank;
  if (prefix.group_rank >= 0) return prefix.group_rank;
  return job::rank_in_text(message.line());
}

Waits waits_of(const JobFacts& facts) {
  const bool has_any = facts.messages.has_any(kWatchdogLines);
  if (!has_any) return {};
  job::WatchdogWaits all;
  for (const MessageId id : kWatchdogLines) {
    for (const KeptMessage& message : facts.messages[id].kept)
      all.take(message.record(), rank_of(facts, message));
  }
  Waits waits;
  for (const auto& [rank, some] : all.by_rank()) {
    const auto first = std::find_if(some.begin(), some.end(),
                                    [](const job::Wait& wait) { return wait.has_timed_out; });
    if (first != some.end()) waits.calls.emplace(rank, *first);
    const bool are_idle =
        std::all_of(some.begin(), some.end(), [](const job::Wait& wait) { return wait.is_idle(); });
    if (!are_idle) waits.timed_out.insert(rank);
  }
  return waits;
}

}  // namespace ringside::audit

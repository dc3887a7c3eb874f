#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Where processes are, by stacks, tables of calls and checks of calls. Dumps have a WaitState instead, which also
/// includes earlier calls.
namespace ringside::hang {

/// One process, or several at one place.
struct Position {
  std::vector<int> ranks;
  int count = 1;    ///< processes, >= ranks named
  std::string who;  ///< as the source names it, where no rank is known
  Activity activity = Activity::Collective;
  bool is_transfer = false;
  std::string op, shape, dtype, root;  ///< empty: not shown
  std::int64_t sequence = -1;          ///< -1: not shown
  int peer = -1;
  std::string place;  ///< the call, and the program's own frame below it
  std::string text;   ///< as a report quotes it
  Stack stack;
  Evidence evidence;
};
using Positions = std::vector<Position>;

Position position_of(const ProcessStack& stack);

/// The rank of a process by its place among the process ids of its host, where all of the host are listed: each host
/// has as many, a number that hosts have GPUs.
/// returns  -1: unknown
int rank_by_process_order(const LogFacts& logs, const Position& one);

/// Ranks that wait for each other, by the halves of transfers, the peers or the groups in their stacks.
std::optional<Explanation> crossed_positions(const LogFacts& logs, const Positions& waiting);

/// A counter next to the stacks (`expert_idx = 6`) that has more than one value: `expert_idx is 6 and 7`.
std::optional<std::string> number_that_differs(const LogFacts& logs);

}  // namespace ringside::hang

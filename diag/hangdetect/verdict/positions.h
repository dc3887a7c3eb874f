#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/verdict/verdict.h"

/// The code or call in which processes are, from stacks, tables of calls and PyTorch's fingerprints. Dumps use
/// WaitState instead, which also covers earlier calls.
namespace ringside::hang {

/// The position of one process, or of several with the same position.
struct Position {
  std::vector<int> ranks;
  int count = 1;    ///< number of processes; at least the size of `ranks`
  std::string who;  ///< the source's name for the process; used if no rank is known
  Activity activity = Activity::Collective;
  bool is_transfer = false;
  std::string op, shape, dtype, root;  ///< empty: unknown
  std::int64_t sequence = -1;          ///< -1: unknown
  int peer = -1;                       ///< global rank; -1: unknown
  std::string place;                   ///< the call, and the program's own frame below it
  std::string text;                    ///< sentence for reports
  Stack stack;
  Evidence evidence;
};
using Positions = std::vector<Position>;

/// Converts a stack to a position.
Position position_of(const ProcessStack& stack);

/// Returns the rank of a process by the order of its process id on its host, or -1 if unknown. The input must list all
/// processes of each host, each host equally many, and a usual number of GPUs per host.
int rank_by_process_order(const LogFacts& logs, const Position& one);

/// Returns the hypothesis that ranks wait for each other, by the sends, receives, peers or groups in their stacks.
std::optional<Explanation> crossed_positions(const LogFacts& logs, const Positions& waiting);

/// Returns a sentence on a variable that is printed next to the stacks (`expert_idx = 6`) and differs between them:
/// `expert_idx is 6 and 7`. Returns nothing if there is none.
std::optional<std::string> number_that_differs(const LogFacts& logs);

}  // namespace ringside::hang

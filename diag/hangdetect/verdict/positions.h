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
  int count = 1;             ///< number of processes; at least the size of `ranks`
  std::string process_name;  ///< as ProcessStack::who() returns; used if no rank is known
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

/// A rank of a job and its index among the ranks of its host.
struct OrderedRank {
  int rank = -1;
  int local_rank = -1;
};

/// Returns the rank of a process by order: launchers start the ranks of a host one after another, so that their process ids
/// ascend, and hosts are numbered in the order of their files' names.
/// returns  nothing unless there is one file for each host, each lists a process id for every stack, and all list equally
///          many processes: 2, 4, 8 or 16, as hosts have GPUs
std::optional<OrderedRank> rank_by_process_order(const LogFacts& logs, const Position& one);

/// Returns the hypothesis that ranks wait for each other, by the sends, receives, peers or groups in their stacks.
std::optional<Explanation> crossed_positions(const LogFacts& logs, const Positions& waiting);

/// Returns a text on a variable that counts calls or layers, is printed next to every stack (`expert_idx = 6`) and differs
/// between them: `expert_idx is 6 and 7`.
/// returns  nothing if there is none, or a process does not wait for other ranks
std::optional<std::string> differing_number_text(const LogFacts& logs);

}  // namespace ringside::hang

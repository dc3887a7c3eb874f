#pragma once

#include <set>
#include <span>
#include <vector>

#include "diag/facts/facts.h"
#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/readers/trace_files.h"
#include "diag/hangdetect/verdict/habits.h"
#include "diag/hangdetect/verdict/verdict.h"

/// The graph that all hypotheses are read from, and the generators of hypotheses. A generator adds what its kind of
/// evidence allows, with the features that support and weaken it; it knows no other generator and sets no confidence.
namespace ringside::hang {

struct Scene {
  const Job& job;               ///< ranks, groups, calls
  const WaitState& wait_state;  ///< which rank is blocked in which call, and for which ranks
  const Habits& habits;
  const facts::Facts& facts;  ///< statements of logs, reports and tools
  const LogFacts& logs;       ///< stacks, tables of calls, and the program's progress
  std::span<const ConnectionProgress> connections = {};
  bool has_both_ends = false;  ///< of the connections: from dumps, not from traces
  bool has_dumps = false;
  bool is_world_known = true;  ///< the number of ranks is stated, or dumps show it
  std::set<int> gave_up = {};  ///< ranks that report that they timed out in a call

  [[nodiscard]] const std::optional<Block>& block(int rank) const {
    return wait_state.blocks[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<int>& waits(int rank) const {
    return wait_state.waits[static_cast<std::size_t>(rank)];
  }
  /// The call in which a blocked rank is.
  [[nodiscard]] const Call& call_of(int rank) const {
    return job.rank(rank).dump->calls[block(rank)->call];
  }
  [[nodiscard]] bool is_unseen(int rank) const {
    return rank >= job.world() || job.rank(rank).dump == nullptr;
  }
  [[nodiscard]] bool is_blocked_anywhere() const;
  /// Whether, of several ranks, at least as many left no dump as left one.
  [[nodiscard]] bool has_few_dumps() const;
  /// Whether the job runs on several hosts, so that the network can be stuck.
  [[nodiscard]] bool spans_hosts() const;
  /// Whether some log line, stack or person states that ranks wait or that the job hangs.
  [[nodiscard]] bool is_hang_reported() const;
};

/// Whether each of them has left a dump that reports another rank as gone or lost. Then it was alive at that time,
/// and the others saw it leave later, which a network partition reports late or never.
bool have_reported(const Scene& scene, const std::vector<int>& gone);

using Explanations = std::vector<Explanation>;

/// Members of one front called different things.
void add_mismatches(const Scene& scene, Explanations& out);
/// The same, from NCCL's lines of calls, which show all calls since the start and their roots.
void add_line_mismatches(const Scene& scene, Explanations& out);
/// Chains of waits end at ranks that never arrived, with or without a dump.
void add_absences(const Scene& scene, Explanations& out);
/// Ranks wait for each other in a cycle; transfers without a peer.
void add_cycles(const Scene& scene, Explanations& out);
/// Every member has entered the same call and it does not end; one device is stuck; the ends of a transfer differ.
void add_stalls(const Scene& scene, Explanations& out);
/// Connections of which both ends are known: data that was lost, a rank that waits for no data.
void add_connections(const Scene& scene, Explanations& out);

/// Processes that ended, failed or raised.
void add_deaths(const Scene& scene, Explanations& out);
/// Watchdogs report what each rank has enqueued: few have not enqueued the call in which the others wait.
void add_enqueued(const Scene& scene, Explanations& out);
/// Reports of libraries and tools on membership and on calls that differ.
void add_reports(const Scene& scene, Explanations& out);
/// Ranks that did other work while others timed out.
void add_busy(const Scene& scene, Explanations& out);
/// Failures of the network, and connections that ended.
void add_links(const Scene& scene, Explanations& out);
/// Processes that are at another place than the others, by stacks, tables and checks of calls, and last lines.
void add_positions(const Scene& scene, Explanations& out);

/// The job moves, ended well, or shows no hang.
void add_quiet(const Scene& scene, Explanations& out);
/// Ranks are blocked, and nothing else explains it.
void add_unexplained(const Scene& scene, Explanations& out);

}  // namespace ringside::hang

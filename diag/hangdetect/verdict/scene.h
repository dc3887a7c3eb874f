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

/// The input of all hypothesis generators, and the generators. A generator adds the hypotheses that its type of
/// evidence allows, with the features for and against them. Generators are independent; decide() computes the
/// confidence.
namespace ringside::hang {

/// Everything known of a job, as references: the objects must outlive the scene.
struct Scene {
  const Job& job;               ///< ranks, groups, calls
  const WaitState& wait_state;  ///< which rank is blocked in which call, and for which ranks
  const Habits& habits;
  const facts::Facts& facts;  ///< statements of logs, reports and tools
  const LogFacts& logs;       ///< stacks, tables of calls, and the program's progress
  std::span<const ConnectionProgress> connections = {};
  bool has_both_ends = false;  ///< `connections` come from dumps of both ends; false: from traces
  bool has_dumps = false;      ///< as has_dumps(job) returns
  bool is_world_known = true;  ///< as is_world_known() returns
  std::set<int> gave_up = {};  ///< ranks that report that they timed out in a call

  [[nodiscard]] const std::optional<Block>& block(int rank) const {
    return wait_state.blocks[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<int>& waits(int rank) const {
    return wait_state.waits[static_cast<std::size_t>(rank)];
  }
  /// Returns the call in which a rank is blocked.  shape  block(rank) has a value
  [[nodiscard]] const Call& call_of(int rank) const {
    return job.rank(rank).dump->calls[block(rank)->call];
  }
  /// Returns whether the rank has no dump.
  [[nodiscard]] bool is_unseen(int rank) const {
    return rank >= job.world() || job.rank(rank).dump == nullptr;
  }
  /// Returns whether any rank is blocked.
  [[nodiscard]] bool is_blocked_anywhere() const;
  /// Returns whether the job has several ranks and at most half of them have a dump.
  [[nodiscard]] bool has_few_dumps() const;
  /// Returns whether the job runs on several hosts, so that the network can be the cause.
  [[nodiscard]] bool spans_hosts() const;
  /// Returns whether there are three reports of ncclras or more, and all have equal counts.
  [[nodiscard]] bool are_reports_equal() const;
  /// Returns whether a log line, a stack or a person states that ranks wait or that the job hangs.
  [[nodiscard]] bool is_hang_reported() const;
};

/// Returns whether each of the ranks `gone` wrote a dump that itself reports another rank as lost. Such a rank was
/// still alive at that time: both sides report each other lost, which indicates a network partition.
bool have_reported(const Scene& scene, const std::vector<int>& gone);

using Explanations = std::vector<Explanation>;

/// Adds hypotheses that members of a group made different calls, from dumps.
void add_mismatches(const Scene& scene, Explanations& out);
/// Adds the same hypotheses from NCCL's COLL log lines, which show all calls since the start and their roots.
void add_line_mismatches(const Scene& scene, Explanations& out);
/// Adds hypotheses that chains of waits end at ranks that did not make the call, with or without a dump.
void add_absences(const Scene& scene, Explanations& out);
/// Adds hypotheses that ranks wait for each other in a cycle, or that a send or receive has no counterpart.
void add_cycles(const Scene& scene, Explanations& out);
/// Adds hypotheses that a call hangs though all members entered it: one GPU is stuck, or both ends of a transfer
/// differ.
void add_stalls(const Scene& scene, Explanations& out);
/// Adds hypotheses from connections with known progress at both ends: data was lost, or a rank has stopped.
void add_connections(const Scene& scene, Explanations& out);

/// Adds hypotheses that a process ended, failed or raised an exception.
void add_deaths(const Scene& scene, Explanations& out);
/// Adds hypotheses from the watchdogs' status lines: a few ranks have not enqueued the call in which the others wait.
void add_enqueued(const Scene& scene, Explanations& out);
/// Adds hypotheses that libraries and tools report: ranks are missing, or calls differ.
void add_reports(const Scene& scene, Explanations& out);
/// Adds hypotheses that a rank did other work while others timed out.
void add_busy(const Scene& scene, Explanations& out);
/// Adds hypotheses that the network failed or that a connection ended.
void add_links(const Scene& scene, Explanations& out);
/// Adds hypotheses that a process is in other code than the rest, by stacks, tables of calls, fingerprints or last
/// lines.
void add_positions(const Scene& scene, Explanations& out);

/// Adds hypotheses that there is no hang: the job moves, ended well, or shows no problem.
void add_quiet(const Scene& scene, Explanations& out);
/// Adds the hypothesis that ranks are blocked for an unknown reason, if no other hypothesis explains it.
void add_unexplained(const Scene& scene, Explanations& out);

}  // namespace ringside::hang

#pragma once

#include <string_view>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/habits.h"
#include "diag/hangdetect/verdict/verdict.h"

/// Each of these looks for one kind of cause and says how sure it is. None knows of the others: decide()
/// weighs them.
namespace ringside::hang {

/// What all of them look at.
struct Scene {
  const Job& job;
  const Standing& standing;
  const Habits& habits;
  /// Whether silence says something of a rank: there are dumps, or a line says how many ranks there are.
  bool is_world_known = true;
};

/// Members of one front called different things.
std::vector<Explanation> explain_mismatches(const Scene& scene);

/// Chains of waiting end at ranks that never came, with or without a dump.
std::vector<Explanation> explain_absence(const Scene& scene);

/// Ranks wait for each other in a circle; sends and receives without their other half.
std::vector<Explanation> explain_cycles(const Scene& scene);

/// Everybody has entered the same call and nobody ends it, or one device stands still.
std::vector<Explanation> explain_stalls(const Scene& scene);

/// What lines of the logs say outright: a process that died, a rank that did not come to a barrier.
std::vector<Explanation> explain_logs(const Scene& scene, const LogFacts& facts);

/// Of a job that left stacks and no dumps: the few that work while the others wait for somebody, or who stands in
/// another call than most.
std::vector<Explanation> explain_stacks(const Scene& scene, const LogFacts& facts);

/// What somebody says in a sentence who watched the job.
std::vector<Explanation> explain_prose(const LogFacts& facts);

/// Of a job in which nothing stands, as far as what is here shows: it runs, it has ended well, or nothing tells; which
/// lines of a hang were seen, what is missing, and the one next step.
Explanation explain_quiet(const Scene& scene, const LogFacts& facts);

/// What to do next, on which host or rank, for a verdict that is not sure. Empty where nothing would help.
std::string next_step(const Scene& scene, const LogFacts& facts, const Explanation& best);

/// Whether a rank has left a dump of its own: lines of logs and reports of ncclras only stand in for one.
bool has_dumps(const Job& job);
/// `all_reduce 12 of default_pg`
std::string call_title(const Job& job, int group, const Call& call);
/// `all_reduce([[190]] Float)`
std::string call_text(const Signature& signature);
/// The stack of the rank's newest call, without frames that only wrap.
Stack last_stack(const Job& job, int rank);
/// The rank's call as evidence.
Evidence evidence_of(const Job& job, int rank, const Call& call, std::string text);
/// Ascending ranks as a person writes them: `0-3,7`; four and more at one distance, as the groups of a
/// pipeline are, `0-56:8` for 0, 8, .. 56, which is how taskset and Slurm write it.
std::string fold_ranks(const std::vector<int>& ranks);
/// `rank 3`, `ranks 0-3,7`
std::string ranks_text(const std::vector<int>& ranks);
/// The same with what they do: `rank 3 waits`, `ranks 0-3,7 wait`.
std::string ranks_that(const std::vector<int>& ranks, std::string_view one, std::string_view many);

}  // namespace ringside::hang

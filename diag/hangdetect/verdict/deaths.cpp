#include <algorithm>
#include <string>
#include <utility>

#include "base/engine_words.h"
#include "diag/hangdetect/readers/line_words.h"
#include "diag/hangdetect/verdict/evidence.h"
#include "diag/hangdetect/verdict/scene.h"

namespace ringside::hang {
namespace {

using facts::Basis;
using facts::DeathCause;
using facts::Died;
using facts::Reporter;
using Deaths = FactList<Died>;

bool is_memory(DeathCause cause) {
  return cause == DeathCause::HostMemory || cause == DeathCause::GpuMemory;
}

/// Returns whether the end follows from an earlier one: the watchdog's own abort, or a signal that a launcher sends to
/// the other processes.
bool is_victim(const Died& one) {
  // source  signal(7), x86 and ARM
  constexpr std::int64_t kHangup = 1, kInterrupt = 2, kAbort = 6, kTerminate = 15;
  return one.is_consequence ||
         (one.cause == DeathCause::Signal && (one.code == kHangup || one.code == kInterrupt ||
                                              one.code == kAbort || one.code == kTerminate));
}

/// Returns whether a launcher, scheduler, kernel or crash handler reports the end; false for exceptions, GPU faults,
/// and reports of peers or tools.
bool is_end(const Died& one) {
  const bool is_other = one.cause == DeathCause::Exception || one.cause == DeathCause::GpuFault ||
                        one.cause == DeathCause::GpuMemory || one.cause == DeathCause::Cancelled ||
                        one.cause == DeathCause::Abort;
  const bool is_launcher = one.reporter == Reporter::Process ||
                           one.reporter == Reporter::Launcher ||
                           one.reporter == Reporter::Scheduler;
  return !is_other && is_launcher && one.basis != Basis::Person && !one.is_presumed;
}

/// Returns whether, among several processes that ended, this one ended together with the first: by the same signal in
/// the same second.
bool fell_with(const Died& first, const Died& other) {
  return first.cause == DeathCause::Signal && other.cause == first.cause &&
         other.code == first.code && first.time_us != 0 && other.time_us == first.time_us;
}

Feature ground_of(const Died& one) {
  return one.cause == DeathCause::Signal || is_memory(one.cause) ? Feature::Killed
                                                                 : Feature::Exited;
}

void describe(const Died& first, Explanation& out) {
  out.cause = first.cause;
  const bool is_signal = first.cause == DeathCause::Signal || first.cause == DeathCause::HostMemory;
  out.exit_code = is_signal ? -first.code : first.cause == DeathCause::ExitCode ? first.code : 0;
  out.what = first.reason;
  const facts::Subject& subject = first.subject;
  const std::string host = subject.host.empty() ? "" : " on " + subject.host;
  if (!subject.process.empty()) {
    out.where = "pod " + subject.process;
  } else if (first.cause == DeathCause::NodeFailure && !subject.host.empty()) {
    out.where = "node " + subject.host;
  } else if (subject.pid >= 0) {
    const std::string name = first.program.empty() ? "" : " (" + first.program + ")";
    out.where = "process " + std::to_string(subject.pid) + name + host;
  } else if (!subject.host.empty()) {
    out.where = "host " + subject.host;
  }
}

constexpr std::int64_t kKilled = 9;  ///< SIGKILL, which the kernel's OOM killer sends

/// A process that was killed while the kernel or the container ran out of memory was killed for that reason.
void add_memory(const Scene& scene, const Died& first, Explanation& out) {
  const bool may_be = first.cause == DeathCause::Unknown ||
                      (first.cause == DeathCause::Signal && first.code == kKilled);
  if (is_memory(first.cause)) return;
  for (const Died& one : scene.facts.deaths) {
    if (one.cause != DeathCause::HostMemory) continue;
    const bool is_same = !ranks_of(one).empty() && ranks_of(one) == out.culprits;
    if (!is_same && !(may_be && ranks_of(one).empty())) continue;
    out.what = one.reason;
    out.cause = one.cause;
    out.evidence.push_back(evidence_of(one.source));
    return;
  }
}

/// Adds the first process that a launcher reports to have ended by itself, and all that ended from the same cause.
bool add_launched(const Scene& scene, Explanations& out) {
  const bool fewer_came = std::ranges::any_of(scene.facts.members, [](const facts::Member& one) {
    return one.count >= 0 && one.size > one.count;
  });
  Deaths own = facts_where(scene.facts.deaths, [&](const Died& one) {
    const std::vector<int> ranks = ranks_of(one);
    if (!is_end(one) || is_victim(one) || ranks.empty() || one.cause == DeathCause::NodeFailure)
      return false;
    if (one.cause != DeathCause::ExitCode && one.cause != DeathCause::Unknown) return true;
    // A status of 1 of many ranks, or of a rank that waited, is an exception that the hang itself raised. So is that
    // of rank 0, where torch's store runs: only rank 0 waits there for all others.
    const bool has_waited = scene.timed_out.contains(ranks.front());
    return ranks.size() <= 2 && !has_waited && !(ranks.front() == 0 && fewer_came);
  });
  if (own.empty()) return false;
  sort_by_time(own);
  std::ranges::stable_partition(own, [](const Died* one) { return one->is_first; });
  const Died& first = *own.front();
  std::erase_if(own, [&](const Died* one) {
    // One report may list several ranks: hosts without memory, tasks without heartbeats, workers that ended.
    const bool is_alike =
        one->cause == first.cause &&
        (is_memory(first.cause) || (first.cause == DeathCause::Unknown && one->row == first.row));
    return one != &first && !is_alike;
  });
  for (const Died& one : scene.facts.deaths) {
    if (&one != &first && first.is_first && fell_with(first, one)) own.push_back(&one);
  }
  Explanation one = stated(Kind::DeadRank, ground_of(first), own, ranks_of(own));
  describe(first, one);
  add_memory(scene, first, one);
  out.push_back(std::move(one));
  return true;
}

/// Adds local ranks, because a launcher that runs on each host knows no other ranks.
bool add_local(const Scene& scene, Explanations& out) {
  Deaths local = facts_where(scene.facts.deaths, [](const Died& one) {
    return is_end(one) && !is_victim(one) && one.subject.local_rank >= 0 && !one.subject.is_known();
  });
  if (local.empty()) return false;
  local.resize(1);
  Explanation one =
      stated(Kind::DeadRank, ground_of(*local.front()), local, {local.front()->subject.local_rank});
  one.is_local_rank = true;
  one.add(Feature::LocalRank);
  describe(*local.front(), one);
  add_memory(scene, *local.front(), one);
  out.push_back(std::move(one));
  return true;
}

/// Adds a death for which no source shows with certainty which rank it was.
void add_unnamed(const Scene& scene, Explanations& out) {
  const Deaths some = facts_where(scene.facts.deaths, [](const Died& one) {
    const bool is_unnamed = ranks_of(one).empty() || one.cause == DeathCause::NodeFailure;
    return is_end(one) && !is_victim(one) && is_unnamed;
  });
  // If the text is not about a job, the process can be any program.
  if (some.empty() || !scene.logs.is_of_job) return;
  const Died& first = *some.front();
  if (first.cause == DeathCause::NodeFailure && !ranks_of(first).empty()) {
    out.push_back(stated(Kind::DeadRank, Feature::NodeFailed, some, ranks_of(first)));
  } else {
    const std::vector<int> ranks = ranks_of(some);
    out.push_back(stated(Kind::DeadRank, Feature::DiedSomewhere, some,
                         ranks.size() == 1 ? ranks : std::vector<int>{}));
    out.back().missing.push_back({Need::What::RankOfProcess});
  }
  describe(first, out.back());
}

void add_gpu_faults(const Scene& scene, Explanations& out) {
  Deaths said = facts_where(scene.facts.deaths, [](const Died& one) {
    return one.cause == DeathCause::GpuFault || one.cause == DeathCause::GpuMemory;
  });
  if (said.empty()) return;
  std::vector<int> ranks = ranks_of(said);
  const auto local =
      std::ranges::find_if(said, [](const Died* one) { return one->subject.local_rank >= 0; });
  const bool is_local = ranks.empty() && local != said.end();
  if (is_local) ranks = {(*local)->subject.local_rank};
  if (ranks.empty()) {
    out.push_back(stated(Kind::DeadRank, Feature::DiedSomewhere, said, {}));
    describe(*said.front(), out.back());
    out.back().what = said.front()->reason;
    return;
  }
  // Each GPU runs out of memory independently; of several other faults, the first can have caused the others.
  const bool are_full = std::ranges::all_of(
      said, [](const Died* one) { return one->cause == DeathCause::GpuMemory; });
  const auto named =
      std::ranges::find_if(said, [](const Died* one) { return !ranks_of(*one).empty(); });
  if (ranks.size() > 1 && !are_full) ranks = ranks_of(**named);
  Explanation one = stated(Kind::DeadRank, Feature::GpuFailed, said, ranks);
  if (!are_full && ranks_of(said).size() > 1) one.add(Feature::SeveralRanks);
  if (scene.logs.timeouts == 0) one.add(Feature::NoWaitShown);
  if (is_local) one.add(Feature::LocalRank);
  one.is_local_rank = is_local;
  one.cause = said.front()->cause;
  one.what = said.front()->reason;
  out.push_back(std::move(one));
}

void add_exceptions(const Scene& scene, Explanations& out) {
  const Deaths raised = facts_where(scene.facts.deaths, [](const Died& one) {
    return one.cause == DeathCause::Exception && one.basis == Basis::Observed;
  });
  const std::vector<int> ranks = ranks_of(raised);
  if (raised.empty() || ranks.size() > 2) return;
  if (ranks.empty() && scene.logs.timeouts == 0) return;
  Explanation one = stated(Kind::MissingRank, Feature::Raised, raised, ranks);
  if (ranks.size() != 1) one.add(Feature::SeveralRanks);
  one.what = raised.front()->source.text;
  const auto notes = ranks.empty() ? scene.logs.notes.end() : scene.logs.notes.find(ranks.front());
  if (notes != scene.logs.notes.end() && !notes->second.exception.empty())
    one.what = notes->second.exception;
  if (ranks.empty()) one.missing.push_back({Need::What::Logs});
  out.push_back(std::move(one));
}

/// Returns the reported ranks, and ranks without a dump between two of them. Each rank is watched by its neighbours in
/// the ring of ranks: if a host dies, only its first and last rank have a live neighbour that reports them.
std::vector<int> with_unwatched(const Scene& scene, const std::vector<int>& dead) {
  if (!scene.has_dumps) return dead;
  std::vector<int> all = dead;
  const int world = scene.job.world();
  const auto is_reported = [&](int rank) { return std::ranges::count(dead, rank) > 0; };
  const auto is_silent = [&](int rank) {
    return scene.is_unseen(rank) || scene.job.rank(rank).is_from_log;
  };
  // Returns the first reported rank in that direction, skipping ranks without a dump.
  const auto end_of = [&](int rank, int step) {
    for (int hop = 0; hop < world && is_silent(rank); ++hop, rank = (rank + step + world) % world) {
      if (is_reported(rank)) return rank;
    }
    return -1;
  };
  for (int rank = 0; rank < world; ++rank) {
    if (is_reported(rank) || !is_silent(rank)) continue;
    const int before = end_of(rank, -1), after = end_of(rank, 1);
    if (before >= 0 && after >= 0 && before != after) all.push_back(rank);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns whether the rank's own dump says that a call had failed, its own or another rank's. It was alive then, so its
/// end is a consequence, of which other communicators report no more than that it is gone.
bool has_seen_a_failure(const Scene& scene, int rank) {
  if (rank < 0 || rank >= scene.job.world()) return false;
  const RankDump* const dump = scene.job.rank(rank).dump;
  return dump != nullptr && (is_engine_timeout(dump->reason) || dump->reason == kOtherCallFailed);
}

/// Adds processes that other ranks report as lost; ranks of ringside's engine watch each other.
void add_gone(const Scene& scene, Explanations& out) {
  const Deaths gone = facts_where(scene.facts.deaths,
                                  [](const Died& one) { return one.reporter == Reporter::Peers; });
  std::vector<int> ranks = ranks_of(gone);
  if (ranks.empty()) return;
  ranks = with_unwatched(scene, ranks);
  if (have_reported(scene, ranks)) {
    // If both sides report each other, it is a network partition, which add_links() handles if a rank reports it.
    const bool is_reported = std::ranges::any_of(
        scene.facts.link_faults,
        [](const facts::LinkFault& one) { return one.state == facts::LinkState::Reset; });
    if (is_reported) return;
    out.push_back(stated(Kind::NetworkStall, Feature::LinkFailed, gone, {}));
    out.back().others = ranks;
    return;
  }
  if (std::ranges::all_of(ranks, [&](int rank) { return has_seen_a_failure(scene, rank); })) return;
  out.push_back(stated(Kind::DeadRank, Feature::DeathSeenByPeers, gone, ranks));
  out.back().add(Feature::AllReported);
}

/// Adds processes that ncclras, kubectl and ps report as dead.
void add_reported(const Scene& scene, Explanations& out) {
  const auto add = [&](Feature ground, Kind kind, auto is_wanted) -> Explanation* {
    const Deaths some = facts_where(scene.facts.deaths, [&](const Died& one) {
      const bool is_tool = one.reporter == Reporter::Ras || one.reporter == Reporter::Kubernetes ||
                           one.reporter == Reporter::ProcessTable;
      return is_tool && is_wanted(one);
    });
    if (some.empty()) return nullptr;
    out.push_back(stated(kind, ground, some, ranks_of(some)));
    describe(*some.front(), out.back());
    if (out.back().culprits.empty()) out.back().missing.push_back({Need::What::RankOfProcess});
    return &out.back();
  };
  const auto is_dead = [](const Died& one) {
    return one.reporter == Reporter::Ras && !one.is_presumed && one.cause == DeathCause::Unknown;
  };
  // A launcher ends the other processes of a host whose first one died, and reports only the first.
  if (Explanation* one = add(Feature::DeathSeenByPeers, Kind::DeadRank, is_dead)) {
    std::vector<int> first;
    for (const Died& died : scene.facts.deaths) {
      const int rank = died.subject.rank;
      const bool is_first = died.reporter != Reporter::Ras && !died.is_consequence && rank >= 0;
      if (is_first && std::ranges::count(one->culprits, rank) > 0) first.push_back(rank);
    }
    std::ranges::sort(first);
    first.erase(std::unique(first.begin(), first.end()), first.end());
    if (!first.empty()) one->culprits = std::move(first);
    if (one->culprits.size() > 1) one->add(Feature::SeveralRanks);
  }
  if (Explanation* one =
          add(Feature::NoAnswer, Kind::DeadRank, [](const Died& died) { return died.is_presumed; }))
    one->missing.push_back({Need::What::RasTwice});
  if (Explanation* one = add(Feature::ErrorReported, Kind::DeadRank,
                             [](const Died& died) { return died.cause == DeathCause::Abort; })) {
    if (one->culprits.size() > 1) one->add(Feature::SeveralRanks);
  }
  if (Explanation* one = add(Feature::Exited, Kind::DeadRank, [](const Died& died) {
        return died.reporter == Reporter::Kubernetes || died.reporter == Reporter::ProcessTable;
      })) {
    if (one->reporter == Reporter::Kubernetes) one->add(Feature::Doubtful);
    one->missing.push_back({Need::What::PodEvents});
  }
}

}  // namespace

bool have_reported(const Scene& scene, const std::vector<int>& gone) {
  const auto is_witness = [](const facts::Fact& one, int rank) {
    return std::ranges::find(one.witnesses, rank) != one.witnesses.end();
  };
  return std::ranges::all_of(gone, [&](int rank) {
    return std::ranges::any_of(scene.facts.deaths,
                               [&](const Died& one) { return is_witness(one, rank); }) ||
           std::ranges::any_of(scene.facts.members,
                               [&](const facts::Member& one) { return is_witness(one, rank); }) ||
           std::ranges::any_of(scene.facts.link_faults, [&](const facts::LinkFault& one) {
             return one.state == facts::LinkState::Reset && is_witness(one, rank);
           });
  });
}

void add_deaths(const Scene& scene, Explanations& out) {
  if (!add_launched(scene, out) && !add_local(scene, out)) add_unnamed(scene, out);
  add_gpu_faults(scene, out);
  add_exceptions(scene, out);
  add_gone(scene, out);
  add_reported(scene, out);
  const Deaths people =
      facts_where(scene.facts.deaths, [](const Died& one) { return one.basis == Basis::Person; });
  if (!people.empty())
    out.push_back(stated(Kind::DeadRank, Feature::PersonSays, people, ranks_of(people)));
}

}  // namespace ringside::hang

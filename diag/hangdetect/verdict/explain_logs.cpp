#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "diag/hangdetect/readers/network_lines.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/verdict/confidence.h"
#include "diag/hangdetect/verdict/end_words.h"
#include "diag/hangdetect/verdict/explain.h"
#include "diag/hangdetect/verdict/fingerprint.h"
#include "diag/hangdetect/verdict/told.h"

namespace ringside::hang {

using What = LogStatement::What;

namespace {

void add_laggards(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto said = all_of(facts, What::Laggards);
  const std::vector<int> ranks = ranks_of(said);
  if (ranks.empty()) return;
  out.push_back(told(
      Kind::MissingRank, said, ranks, confidence::kDesyncReport,
      fmt::format("{} names {} as not having joined",
                  said.front()->detail.empty() ? "PyTorch's desync report" : said.front()->detail,
                  ranks_text(ranks))));
}

/// The stock analyser's report: whom it did not find in a collective.
void add_analyser_missing(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto said = all_of(facts, What::AnalyserMissing);
  if (said.empty()) return;
  // Of several entries the first is the cause: the analyser matches nothing in a group behind it.
  const std::vector<int> ranks = ranks_of({said.front()});
  if (ranks.empty()) return;
  out.push_back(
      told(Kind::MissingRank, {said.front()}, ranks, confidence::kAnalyserMissing,
           fmt::format("PyTorch's analyser of the dumps did not find {} in a collective that the "
                       "others are in",
                       ranks_text(ranks))));
}

/// The ranks that are told of and those between two of them without a dump: each is watched by its neighbours in the ring
/// of ranks, so where a host dies its first and last rank are missed and nobody is left to miss the others.
std::vector<int> with_unwatched(const Scene& scene, const std::vector<int>& dead) {
  if (!has_dumps(scene.job)) return dead;
  std::vector<int> all = dead;
  const int world = scene.job.world();
  const auto is_told = [&](int rank) { return std::count(dead.begin(), dead.end(), rank) > 0; };
  const auto is_silent = [&](int rank) {
    return scene.job.rank(rank).dump == nullptr || scene.job.rank(rank).is_from_log;
  };
  // The first rank told of in that direction, over ranks without a dump.
  const auto end_of = [&](int rank, int step) {
    for (int hop = 0; hop < world && is_silent(rank); ++hop, rank = (rank + step + world) % world) {
      if (is_told(rank)) return rank;
    }
    return -1;
  };
  for (int rank = 0; rank < world; ++rank) {
    if (is_told(rank) || !is_silent(rank)) continue;
    const int before = end_of(rank, -1), after = end_of(rank, 1);
    if (before >= 0 && after >= 0 && before != after) all.push_back(rank);
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Whether each of them has left a dump that says who was gone or lost: it lived when it wrote that, be it of itself, and
/// ended of it; what the others saw of that is its leaving, which a cut network lets through late or not at all.
bool have_told_of_it(const LogFacts& facts, const std::vector<int>& gone) {
  return std::ranges::all_of(gone, [&](int rank) {
    return std::ranges::any_of(facts.statements, [&](const LogStatement& one) {
      return (one.what == What::EngineGone || one.what == What::EngineStopped ||
              one.what == What::EngineCut) &&
             std::ranges::find(one.speakers, rank) != one.speakers.end();
    });
  });
}

/// What ringside's own engine says of a rank that did not come, is stopped, or is gone.
void add_engine(const Scene& scene, const LogFacts& facts, std::vector<Explanation>& out) {
  const auto cut = all_of(facts, What::EngineCut);
  const auto add = [&](What what, Kind kind, double confidence, std::string_view how) {
    const auto said = all_of(facts, what);
    std::vector<int> ranks = ranks_of(said);
    if (ranks.empty()) return;
    if (what == What::EngineGone) ranks = with_unwatched(scene, ranks);
    if (what == What::EngineGone || what == What::EngineStopped) {
      if (have_told_of_it(facts, ranks)) {
        if (!cut.empty()) return;
        out.push_back(told(Kind::NetworkStall, said, {}, confidence::kEngineCut,
                           fmt::format("{} are missed by others and say the same of them: they "
                                       "lived, and the network between them did not",
                                       ranks_text(ranks))));
        return;
      }
    }
    out.push_back(
        told(kind, said, ranks, confidence, fmt::format("{} {}", ranks_text(ranks), how)));
  };
  add(What::EngineGone, Kind::DeadRank, confidence::kEngineGone,
      "ended without a goodbye: the others say so");
  add(What::EngineStopped, Kind::MissingRank, confidence::kEngineStopped,
      "did not answer when all others said that they live: stopped, or out of reach");
  if (!cut.empty()) {
    const bool was_there = cut.front()->text.find(" cannot reach ") == std::string::npos;
    out.push_back(told(Kind::NetworkStall, cut, {}, confidence::kEngineCut,
                       fmt::format("a connection {} between two ranks that live on: {}",
                                   was_there ? "broke" : "could not be made", cut.front()->text)));
  }
  add(What::EngineAbsent, Kind::MissingRank, confidence::kEngineAbsent,
      "did not come to the start of the job");
  if (all_of(facts, What::EngineGone).empty()) {
    add(What::EngineSilent, Kind::MissingRank, confidence::kEngineSilent,
        "did not come: the others gave up, and of these there is no such report, or fewer calls");
  }
}

void add_barrier(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto absent = all_of(facts, What::BarrierAbsent);
  if (const std::vector<int> ranks = ranks_of(absent); !ranks.empty()) {
    out.push_back(
        told(Kind::MissingRank, absent, ranks, confidence::kBarrierAbsent,
             fmt::format("rank 0 waited for {} in monitored_barrier in vain", ranks_text(ranks))));
    return;
  }
  const auto left = all_of(facts, What::BarrierLeft);
  if (left.empty()) return;
  const auto waited = std::find_if(left.begin(), left.end(),
                                   [](const LogStatement* one) { return !one->detail.empty(); });
  if (waited != left.end()) {
    out.push_back(
        told(Kind::MissingRank, left, {}, confidence::kBarrierLeft,
             fmt::format("{} came to monitored_barrier, which waited for others in vain; no line "
                         "says how many ranks the job has",
                         ranks_text((*waited)->ranks))));
    out.back().missing.push_back("how many ranks the job has: the others did not come");
    return;
  }
  out.push_back(
      told(Kind::MissingRank, left, {}, confidence::kBarrierLeft,
           fmt::format("{} came to monitored_barrier and rank 0 let nobody through: it waited for "
                       "another, and its own log names that one, or it did not come itself",
                       ranks_text(ranks_of(left)))));
  out.back().missing.push_back(
      "the log of rank 0: its `failed to pass monitoredBarrier` names who did not come");
}

/// Ranks make the same call as their n-th and their m-th: some have made a call more than others before it.
Explanation of_other_sequence(const std::vector<const LogStatement*>& said,
                              const std::vector<std::pair<std::string, std::vector<int>>>& order,
                              const std::vector<int>& few) {
  const auto behind =
      std::min_element(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return fingerprint_sequence(a.first) < fingerprint_sequence(b.first);
      });
  const auto ahead = std::max_element(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return fingerprint_sequence(a.first) < fingerprint_sequence(b.first);
  });
  const std::int64_t calls =
      fingerprint_sequence(ahead->first) - fingerprint_sequence(behind->first);
  Explanation out = told(
      few.empty() ? Kind::Unknown : Kind::DivergedControlFlow, said, few,
      few.empty() ? confidence::kSequenceParted : confidence::kSequenceBehind,
      fmt::format("{} and {} make the same call, and count it as {} and {}: the one has made {} "
                  "call{} more "
                  "than the other before it",
                  ranks_text(ahead->second), ranks_text(behind->second),
                  fingerprint_sequence(ahead->first), fingerprint_sequence(behind->first), calls,
                  calls == 1 ? "" : "s"));
  out.missing.push_back("the same check's lines of all ranks: whose count most of them share");
  return out;
}

void add_fingerprints(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto said = all_of(facts, What::Fingerprint);
  std::map<int, std::string> by_rank;
  for (const LogStatement* one : said)
    by_rank[one->ranks.empty() ? -1 : one->ranks.front()] = one->detail;
  by_rank.erase(-1);
  std::map<std::string, std::vector<int>> sides;
  for (const auto& [rank, detail] : by_rank) sides[detail].push_back(rank);
  if (sides.size() < 2) return;
  std::vector<std::pair<std::string, std::vector<int>>> order(sides.begin(), sides.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  // Each pair of ranks that is compared names both: a rank that differs from all is in every pair.
  const bool is_tie = order[0].second.size() == order[1].second.size();
  std::vector<int> few;
  for (std::size_t i = is_tie ? 0 : 1; i < order.size(); ++i) {
    few.insert(few.end(), order[i].second.begin(), order[i].second.end());
  }
  std::sort(few.begin(), few.end());
  const std::string& a = order[0].first;
  const std::string& b = order[1].first;
  if (is_other_sequence(a, b)) {
    out.push_back(of_other_sequence(said, order, is_tie ? std::vector<int>{} : few));
    return;
  }
  Kind kind = Kind::ShapeMismatch;
  if (fingerprint_part(a, "TensorDtypes=") != fingerprint_part(b, "TensorDtypes="))
    kind = Kind::DtypeMismatch;
  if (fingerprint_part(a, "TensorShape=") != fingerprint_part(b, "TensorShape="))
    kind = Kind::ShapeMismatch;
  // Tensors of other dimensions are no longer or shorter ones, but others: of two ranks, the order of calls differs.
  const bool are_others = is_tie && order.size() == 2 &&
                          dimensions_of(fingerprint_part(a, "TensorShape=")) !=
                              dimensions_of(fingerprint_part(b, "TensorShape="));
  if (kind == Kind::ShapeMismatch && are_others) kind = Kind::OrderMismatch;
  if (fingerprint_part(a, "OpType=") != fingerprint_part(b, "OpType=")) kind = Kind::OpMismatch;
  Explanation one = told(
      kind, said, few, is_tie ? confidence::kFingerprintTie : confidence::kFingerprint,
      fmt::format("{} called something else, as the check of every call saw it", ranks_text(few)));
  for (const auto& [detail, ranks] : order) {
    if (one.details.size() < 8)
      one.details.push_back(fmt::format("{} called {}", ranks_text(ranks), detail));
  }
  out.push_back(std::move(one));
}

void add_faults(const LogFacts& facts, std::vector<Explanation>& out) {
  auto said = all_of(facts, What::GpuFault);
  const std::vector<int> ranks = ranks_of(said);
  if (!ranks.empty()) {
    const bool is_one = ranks.size() == 1;
    const bool is_local = said.front()->detail == "local";
    out.push_back(told(Kind::DeadRank, said, is_one ? ranks : ranks_of({said.front()}),
                       facts.timeouts == 0 ? confidence::kGpuFaultAlone
                       : is_one            ? confidence::kGpuFault
                                           : confidence::kGpuFaults,
                       fault_text(*said.front(), ranks_text(ranks))));
    if (is_local) {
      out.back().confidence = std::min(out.back().confidence, confidence::kLocalRankOnly);
      out.back().why += "; that is a local rank, and the global one too if the job has one host";
    }
  } else if (!said.empty()) {
    out.push_back(told(Kind::DeadRank, said, {}, confidence::kDeathOfNobody,
                       fmt::format("a GPU failed under its rank{}, and nothing says which rank it "
                                   "was",
                                   where_of(said).empty() ? "" : " on " + where_of(said))));
  }
  const auto raised = all_of(facts, What::Exception);
  const std::vector<int> raisers = ranks_of(raised);
  if (!raisers.empty() && raisers.size() <= 2) {
    out.push_back(told(Kind::MissingRank, raised, raisers,
                       raisers.size() == 1 ? confidence::kOneRaised : confidence::kSomeRaised,
                       fmt::format("{} raised {}", ranks_text(raisers),
                                   facts.notes.at(raisers.front()).exception)));
  }
  if (raisers.empty() && !raised.empty() && facts.timeouts > 0) {
    out.push_back(
        told(Kind::MissingRank, raised, {}, confidence::kSomeRaised,
             "a program raised an error of its own while others waited, and no line says on which "
             "rank"));
    out.back().missing.push_back(
        "the whole line, with what stands before it, or the log of each rank");
  }
  const auto stuck = all_of(facts, What::WatchdogStuck);
  const std::vector<int> frozen = ranks_of(stuck);
  // That a process ends itself for it says no more than that its watchdog waited: most often for a call.
  const bool says_where = std::any_of(stuck.begin(), stuck.end(), [](const LogStatement* one) {
    return one->text.find("Terminating the process") == std::string::npos;
  });
  if (frozen.size() == 1 && says_where && facts.run.finished == 0) {
    out.push_back(
        told(Kind::Straggler, stuck, frozen, confidence::kWatchdogStuck,
             fmt::format("the watchdog of {} itself stands still: a CUDA call or Python's lock "
                         "holds the process",
                         ranks_text(frozen))));
  }
}

void add_start(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto fewer = all_of(facts, What::FewerCame);
  if (!fewer.empty()) {
    const LogStatement& one = *fewer.back();
    out.push_back(told(Kind::MissingRank, fewer, {}, confidence::kFewerCame,
                       fmt::format("{} of {} processes came to the start of the job, and the "
                                   "others waited; no line says which did not",
                                   one.code, one.detail)));
    out.back().missing.push_back("the launcher's log: which processes it started, and where");
  }
  const auto begun = all_of(facts, What::StartAbsent);
  if (const std::vector<int> ranks = ranks_of(begun); !ranks.empty()) {
    out.push_back(
        told(Kind::MissingRank, begun, ranks, confidence::kStartAbsent,
             fmt::format("{} not begun to make the communicator, and the others wait in it: nobody "
                         "comes through without all",
                         ranks_that(ranks, "has", "have"))));
    out.back().missing.push_back("the log of " + ranks_text(ranks) +
                                 ", and the launcher's: whether they were started");
  }
  const auto said = all_of(facts, What::NoUniqueId);
  if (said.empty()) return;
  out.push_back(
      told(Kind::MissingRank, said, {0}, confidence::kNoUniqueId,
           fmt::format("{} waited for the communicator's id, which rank 0 of the group never "
                       "made: it has not come to its first collective",
                       ranks_of(said).empty() ? "a rank" : ranks_text(ranks_of(said)))));
}

/// `: process 71 on node n01, GPU 3`
std::string processes(const std::vector<const LogStatement*>& said) {
  std::string text;
  for (const LogStatement* one : said) {
    if (!one->detail.empty() && text.size() < 200)
      text += (text.empty() ? ": " : "; ") + one->detail;
  }
  return text;
}

/// Ranks whose communicator is in another state than the others': it was never made there, or has been left.
void add_status(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto said = all_of(facts, What::RasStatus);
  const std::vector<int> ranks = ranks_of(said);
  if (ranks.empty()) return;
  const std::string& status = said.front()->detail;
  const Kind kind = status.starts_with("ABORT") ? Kind::DeadRank : Kind::MissingRank;
  out.push_back(told(
      kind, said, ranks, confidence::kStatusOutlier,
      fmt::format("the communicator of {} has status {} by ncclras, and that of the others another",
                  ranks_text(ranks), status)));
}

void add_ras(const LogFacts& facts, std::vector<Explanation>& out) {
  const auto dead = all_of(facts, What::RasDead);
  if (const std::vector<int> ranks = ranks_of(dead); !ranks.empty()) {
    // A launcher ends the other processes of a host whose first one fell.
    out.push_back(
        told(Kind::DeadRank, dead, ranks,
             ranks.size() == 1 ? confidence::kRasDead : confidence::kRasDeadMany,
             fmt::format("ncclras considers {} dead{}", ranks_text(ranks), processes(dead))));
  } else if (!dead.empty()) {
    out.push_back(
        told(Kind::DeadRank, dead, {}, confidence::kRasDeadUnnamed,
             fmt::format("ncclras considers a process dead{}; the report does not say which rank "
                         "it was",
                         processes(dead))));
    out.back().missing.push_back(
        "a line that says which rank that process was: NCCL_DEBUG=INFO, or the launcher's log");
  }
  const auto silent = all_of(facts, What::RasSilent);
  if (const std::vector<int> ranks = ranks_of(silent); !ranks.empty()) {
    out.push_back(
        told(Kind::DeadRank, silent, ranks, confidence::kRasSilent,
             fmt::format("{} did not answer ncclras{}", ranks_text(ranks), processes(silent))));
    out.back().missing.push_back(
        "a second report: a process that stays silent for a minute is dead");
  }
  if (ranks_of(silent).empty() && !silent.empty() && dead.empty()) {
    out.push_back(told(Kind::DeadRank, silent, {}, confidence::kRasSilent,
                       "a process did not answer ncclras" + processes(silent)));
  }
  add_status(facts, out);
  const auto odd = all_of(facts, What::RasOdd);
  if (const std::vector<int> ranks = ranks_of(odd); !ranks.empty()) {
    out.push_back(
        told(Kind::OpMismatch, odd, ranks, confidence::kRasOdd,
             fmt::format("{} launched as many operations as the others of a communicator by "
                         "ncclras, and other ones",
                         ranks_text(ranks))));
  }
  const auto failed = all_of(facts, What::RasError);
  if (const std::vector<int> ranks = ranks_of(failed); !ranks.empty()) {
    out.push_back(told(Kind::DeadRank, failed, ranks,
                       ranks.size() == 1 ? confidence::kRasError : confidence::kRasErrors,
                       fmt::format("{} by ncclras", ranks_that(ranks, "holds an error of its own",
                                                               "hold errors of their own"))));
  }
  const auto behind = all_of(facts, What::RasBehind);
  if (const std::vector<int> ranks = ranks_of(behind); !ranks.empty()) {
    const std::int64_t lag = behind.front()->code;
    out.push_back(
        told(Kind::MissingRank, behind, ranks,
             lag > 1 ? confidence::kRasBehind : confidence::kRasOneBehind,
             fmt::format("{} launched {} operation{} fewer than the others in one ncclras "
                         "report",
                         ranks_text(ranks), lag, lag == 1 ? "" : "s")));
    out.back().missing.push_back("two more reports, 15 s apart: a job that moves differs too");
  }
  const auto ahead = all_of(facts, What::RasAhead);
  if (const std::vector<int> ranks = ranks_of(ahead); !ranks.empty()) {
    out.push_back(
        told(Kind::Unknown, ahead, {}, confidence::kConsequence,
             fmt::format("{} ahead of the others in one ncclras report: the others lag, and the "
                         "report does not tell which of them was late",
                         ranks_that(ranks, "is", "are"))));
    out.back().missing.push_back("two more reports, 15 s apart, and stacks of the ranks that lag");
  }
}

/// Which connections, in the words of the hosts that saw them fail; a flushed queue says only that something
/// failed before it.
std::optional<Explanation> explain_network(const LogFacts& facts) {
  std::vector<const LogStatement*> said = all_of(facts, What::NetworkError);
  // Ports go down and come back in jobs that run on, and queues are flushed at a good end, too.
  if (facts.timeouts == 0) {
    std::erase_if(said, [&](const LogStatement* one) {
      return one->code == kPortEvent || (one->code == kFlushed && facts.run.finished > 0);
    });
  }
  if (said.empty()) return std::nullopt;
  std::stable_partition(said.begin(), said.end(),
                        [](const LogStatement* one) { return one->code == 0; });
  std::stable_sort(said.begin(), said.end(), [](const auto* a, const auto* b) {
    return a->code == b->code && a->time_us != 0 && b->time_us != 0 && a->time_us < b->time_us;
  });
  const bool is_first_cause = said.front()->code == 0;
  Explanation out =
      told(Kind::NetworkStall, said, {},
           facts.timeouts > 0 && is_first_cause ? confidence::kAdapterFailed
                                                : confidence::kAdapterMayHave,
           "adapters report failed transfers: the network, not a rank, holds the job; " +
               said.front()->detail);
  std::set<std::string> seen;
  for (const LogStatement* one : said) {
    constexpr std::size_t kShown = 6;
    if (out.details.size() < kShown && seen.insert(one->detail).second) {
      out.details.push_back(one->detail);
    }
  }
  if (!is_first_cause) {
    out.missing.push_back("the logs of the other hosts: flushed queues only follow a failure");
  }
  return out;
}

void add_others(const Scene& scene, const LogFacts& facts, std::vector<Explanation>& out) {
  const auto analysed = all_of(facts, What::Analyser);
  if (const std::vector<int> ranks = ranks_of(analysed); !ranks.empty()) {
    std::string what;
    for (const LogStatement* one : analysed) what += one->detail + "; ";
    const auto says = [&](std::string_view word) { return what.find(word) != std::string::npos; };
    const Kind kind = says("DTYPE")                                    ? Kind::DtypeMismatch
                      : says("TYPE_MISMATCH") || says("type mismatch") ? Kind::OpMismatch
                                                                       : Kind::ShapeMismatch;
    out.push_back(
        told(kind, analysed, ranks, confidence::kAnalyserCulprit,
             fmt::format("an analyser's report names {}; it presumes its first rank innocent",
                         ranks_text(ranks))));
    out.back().missing.push_back("the dumps themselves");
  }
  if (const auto network = explain_network(facts)) out.push_back(*network);
  const auto devices = all_of(facts, What::DeviceMissing);
  if (!devices.empty()) {
    const std::vector<int> ranks = ranks_of(devices);
    out.push_back(
        told(Kind::NetworkStall, devices, {}, confidence::kDeviceMissing,
             fmt::format("{} cannot open a network adapter that others may use: channels that were "
                         "laid through it wait for ever",
                         ranks.empty() ? "a rank" : ranks_text(ranks))));
    out.back().missing.push_back(
        "`ibv_devinfo` on that rank's host, and the same NCCL_IB_HCA everywhere");
  }
  auto library = all_of(facts, What::LibraryMismatch);
  // Any two calls that meet and differ end so; dumps show which they were.
  if (has_dumps(scene.job))
    std::erase_if(library, [](const LogStatement* one) { return one->code == kOtherSize; });
  if (!library.empty()) {
    const bool is_size = library.front()->code == kOtherSize;
    out.push_back(
        told(Kind::ShapeMismatch, library, {},
             is_size ? confidence::kOtherSize : confidence::kLibraryMismatch,
             "the library itself saw that two ranks disagree on a call, and does not say which"));
    out.back().missing.push_back("NCCL_DEBUG_SUBSYS=COLL on all ranks, or Flight Recorder dumps");
  }
}

}  // namespace

std::vector<Explanation> explain_logs(const Scene& scene, const LogFacts& facts) {
  std::vector<Explanation> out;
  add_fingerprints(facts, out);
  add_barrier(facts, out);
  add_laggards(facts, out);
  add_analyser_missing(facts, out);
  add_engine(scene, facts, out);
  add_deaths(facts, out);
  // Beside dumps, which show who waits for whom, the end of a connection is late news: everybody's ends at last.
  if (!has_dumps(scene.job)) add_lost(facts, out);
  add_faults(facts, out);
  add_busy(scene, facts, out);
  add_left(facts, out);
  add_hints(facts, out);
  add_start(facts, out);
  add_ras(facts, out);
  add_others(scene, facts, out);
  // A rank that a dump shows waiting in a call is not the one that never came.
  for (Explanation& one : out) {
    if (one.kind != Kind::MissingRank) continue;
    const bool waits = std::any_of(one.culprits.begin(), one.culprits.end(), [&](int rank) {
      return rank < scene.job.world() && scene.job.rank(rank).dump != nullptr &&
             !scene.job.rank(rank).is_from_log &&
             !scene.standing.waits[static_cast<std::size_t>(rank)].empty();
    });
    if (waits) one.confidence *= 0.5;
  }
  return out;
}

}  // namespace ringside::hang

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {

using F = Feature;

/// What to collect, in the order of Need::What; {} is replaced by the ranks.
constexpr std::string_view kNeeds[] = {
    "Flight Recorder dumps of {} (TORCH_FR_BUFFER_SIZE=2000)",
    "a second set of dumps some seconds later, which shows whether the job moves",
    "longer histories: these do not show how long a pause is usual",
    "stacks of {} (py-spy dump --pid PID)",
    "the same lines a minute later, and the stacks of {}",
    "the logs of {}",
    "how many ranks the job has, and the logs of all of them",
    "the program's source at these calls, which shows the order that was meant",
    "NCCL's lines of calls (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=COLL), which show roots and types",
    "two more `ncclras -v` reports, 15 s apart",
    "the kernel log (Xid lines) and nvidia-smi of the hosts of {}",
    "port counters, `ncclras -v` twice 30 s apart, and NCCL's WARN lines",
    "the launcher's log: which processes it started, and where",
    "dump, log and exit status of {}",
    "a line that shows which rank that process was: NCCL_DEBUG=INFO, or the launcher's log",
    "the pod's events (kubectl describe pod)",
    "the times of the last steps, and if it is stuck now the stacks of all ranks"};

namespace {

/// Returns whether this input of the rank is among the evidence.
bool is_given(Need::What what, const RankView& view) {
  switch (what) {
    case Need::What::Dumps:
      return view.dump != nullptr && !view.dump->is_inferred();
    case Need::What::Stacks:
      return view.notes.has_stack;
    default:
      return false;
  }
}

/// Removes the ranks whose input is given from `ranks`; where `ranks` is empty, it lists those of all ranks that remain.
/// returns  false: nothing remains to collect
bool keep_absent(Need::What what, const Job& job, std::vector<int>& ranks) {
  std::vector<int> absent;
  bool is_any_given = false;
  for (int rank = 0; rank < job.world(); ++rank) {
    const bool is_meant = ranks.empty() || std::ranges::find(ranks, rank) != ranks.end();
    if (!is_meant) continue;
    const bool has_it = is_given(what, job.rank(rank));
    is_any_given |= has_it;
    if (!has_it) absent.push_back(rank);
  }
  if (is_any_given) ranks = std::move(absent);
  return !is_any_given || !ranks.empty();
}

}  // namespace

std::vector<std::string> missing_of(const Explanation& one, const Job* job) {
  std::vector<std::string> lines;
  for (Need need : one.missing) {
    if (job != nullptr && !keep_absent(need.what, *job, need.ranks)) continue;
    const std::string all = need.what == Need::What::ExitStatus ? "the peer" : "all ranks";
    std::string line(kNeeds[static_cast<std::size_t>(need.what)]);
    if (const std::size_t at = line.find("{}"); at != std::string::npos)
      line.replace(at, 2, need.ranks.empty() ? all : ranks_text(need.ranks));
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

std::string against_of(const Explanation& best, const Explanation& other) {
  if (other.has(F::ShownWaiting)) return "a dump shows this rank in a call";
  if (other.has(F::DifferenceSeen)) return "a lost dump does not show that the rank is gone";
  if (other.has(F::DataWasLost)) return "lost data explains it";
  if (other.has(F::YoungWaits)) return "no call had waited long";
  switch (other.kind) {
    case Kind::NetworkStall:
      return best.culprits.empty() ? "weaker evidence" : "one rank is clearly different";
    case Kind::NotAHang:
      return "ranks wait in calls that cannot end";
    default:
      return "weaker evidence, or it explains fewer ranks";
  }
}

std::string reference_of(Kind kind) {
  return fmt::format("ringside hang --about {}", to_string(kind));
}

}  // namespace ringside::hang

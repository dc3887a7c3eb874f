#include <fmt/format.h>

#include <algorithm>

#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {

using F = Feature;

std::vector<std::string> missing_of(const Explanation& one) {
  std::vector<std::string> lines;
  for (const Need& need : one.missing) {
    const std::string of = need.ranks.empty() ? "all ranks" : ranks_text(need.ranks);
    using What = Need::What;
    std::string line;
    switch (need.what) {
      case What::Dumps:
        line = fmt::format("Flight Recorder dumps of {} (TORCH_FR_BUFFER_SIZE=2000)", of);
        break;
      case What::DumpsLater:
        line = "a second set of dumps some seconds later, which shows whether the job moves";
        break;
      case What::LongerDumps:
        line = "longer histories: these do not show how long a pause is usual";
        break;
      case What::Stacks:
        line = fmt::format("stacks of {} (py-spy dump --pid PID)", of);
        break;
      case What::StacksLater:
        line = fmt::format("the same lines a minute later, and the stacks of {}", of);
        break;
      case What::Logs:
        line = fmt::format("the logs of {}", of);
        break;
      case What::WorldSize:
        line = "how many ranks the job has, and the logs of all of them";
        break;
      case What::Sources:
        line = "the program's source at these calls, which shows the order that was meant";
        break;
      case What::CallLines:
        line =
            "NCCL's lines of calls (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=COLL), which show roots "
            "and types";
        break;
      case What::RasTwice:
        line = "two more `ncclras -v` reports, 15 s apart";
        break;
      case What::KernelLog:
        line = fmt::format("the kernel log (Xid lines) and nvidia-smi of the hosts of {}", of);
        break;
      case What::Counters:
        line = "port counters, `ncclras -v` twice 30 s apart, and NCCL's WARN lines";
        break;
      case What::LauncherLog:
        line = "the launcher's log: which processes it started, and where";
        break;
      case What::ExitStatus:
        line = fmt::format("dump, log and exit status of {}",
                           need.ranks.empty() ? "the peer" : ranks_text(need.ranks));
        break;
      case What::RankOfProcess:
        line =
            "a line that shows which rank that process was: NCCL_DEBUG=INFO, or the launcher's "
            "log";
        break;
      case What::PodEvents:
        line = "the pod's events (kubectl describe pod)";
        break;
      case What::StepTimes:
        line = "the times of the last steps, and if it is stuck now the stacks of all ranks";
        break;
    }
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  return lines;
}

std::string against_of(const Explanation& best, const Explanation& other) {
  if (other.kind == best.kind && other.culprits == best.culprits)
    return "the same cause, with other evidence";
  if (other.has(F::ShownWaiting)) return "a dump shows this rank in a call";
  if (other.has(F::DifferenceSeen)) return "a lost dump does not show that the rank is gone";
  if (other.has(F::DataWasLost)) return "lost data explains it";
  if (other.has(F::YoungWaits)) return "no call had waited long";
  switch (other.kind) {
    case Kind::NetworkStall:
      return best.culprits.empty() ? "weaker evidence" : "one rank stands out";
    case Kind::NotAHang:
      return "ranks wait in calls that cannot end";
    default:
      return "weaker evidence, or it explains fewer ranks";
  }
}

const char* reference_of(Kind kind) {
  switch (kind) {
    case Kind::MissingRank:
      return "docs/formats 9.8 PT-02; 6.7";
    case Kind::DeadRank:
      return "docs/formats 9.8 PT-12, PT-14, PT-17";
    case Kind::DivergedControlFlow:
    case Kind::OrderMismatch:
      return "docs/formats 9.8 PT-04; 6.7";
    case Kind::OpMismatch:
    case Kind::ShapeMismatch:
    case Kind::DtypeMismatch:
    case Kind::RootMismatch:
      return "docs/formats 9.8 PT-04; 6.5";
    case Kind::P2pUnmatched:
      return "docs/formats 6.6; 6.7";
    case Kind::DeadlockCycle:
      return "docs/formats 9.8 PT-18; 6.7";
    case Kind::Straggler:
      return "docs/formats 9.8 PT-19";
    case Kind::NetworkStall:
      return "docs/formats 9.8 PT-03; 6.7";
    case Kind::NotAHang:
    case Kind::Unknown:
      break;
  }
  return "docs/formats 6.1";
}

}  // namespace ringside::hang

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {
namespace {

/// Where the rank's stack or lines say it runs: ` on n01`; empty where they do not.
std::string host_of(const LogFacts& facts, int rank) {
  for (const ProcessStack& stack : facts.stacks) {
    const bool is_own =
        std::find(stack.ranks.begin(), stack.ranks.end(), rank) != stack.ranks.end();
    if (is_own && !stack.host.empty()) return " on " + stack.host;
  }
  for (const LogStatement& one : facts.statements) {
    const bool is_own = std::find(one.ranks.begin(), one.ranks.end(), rank) != one.ranks.end();
    const std::size_t at = one.detail.find(" on node ");
    if (!is_own || at == std::string::npos) continue;
    const std::string rest = one.detail.substr(at + 9);
    return " on " + rest.substr(0, rest.find_first_of(" ,;"));
  }
  return "";
}

bool has_stack(const Scene& scene, int rank) {
  return rank < scene.job.world() && scene.job.rank(rank).notes.has_stack;
}

/// Ranks whose lines are here and who wait; the others are to be asked.
std::vector<int> silent_ranks(const Scene& scene) {
  std::vector<int> silent;
  for (int rank = 0; rank < scene.job.world(); ++rank) {
    const RankView& view = scene.job.rank(rank);
    if (view.dump == nullptr && !view.notes.is_waiting && !view.notes.has_stack)
      silent.push_back(rank);
  }
  return silent;
}

}  // namespace

std::string next_step(const Scene& scene, const LogFacts& facts, const Explanation& best) {
  if (best.kind == Kind::NotAHang) return {};
  if (!best.culprits.empty()) {
    const int rank = best.culprits.front();
    const std::string host = host_of(facts, rank);
    switch (best.kind) {
      case Kind::DeadRank:
        return fmt::format(
            "read the kernel's log where rank {} ran{}: dmesg -T | grep -iE 'oom|killed "
            "process|xid'; "
            "and the end of that rank's own log",
            rank, host);
      case Kind::MissingRank:
      case Kind::Straggler:
        if (has_stack(scene, rank))
          return fmt::format(
              "take the stack of rank {}{} again half a minute later: does it stand where it "
              "stood?",
              rank, host);
        return fmt::format(
            "py-spy dump --pid PID of rank {}{} while it stands, or that rank's own log", rank,
            host);
      case Kind::NetworkStall:
        break;
      default:
        return fmt::format(
            "compare what rank {} runs there with what another rank runs: stacks (py-spy dump), or "
            "the "
            "frames of Flight Recorder dumps (TORCH_FR_BUFFER_SIZE=2000)",
            rank);
    }
  }
  if (best.kind == Kind::DeadRank) {
    return "read the kernel's log of the hosts (dmesg -T | grep -iE 'oom|killed process|xid') and "
           "the launcher's log: "
           "which process ended first";
  }
  if (best.kind == Kind::NetworkStall) {
    return "run `ncclras -v` twice, 30 s apart, on any host while it stands: the same counts mean "
           "a stall; then run "
           "it with NCCL_DEBUG=INFO, and once with NCCL_P2P_DISABLE=1 on one host";
  }
  const std::vector<int> silent = silent_ranks(scene);
  if (facts.timeouts > 0 && !silent.empty() && static_cast<int>(silent.size()) < scene.job.world())
    return fmt::format("get the logs of {}, of which there is no line here", ranks_text(silent));
  if (facts.timeouts > 0)
    return "run again with TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1, and give "
           "the dumps of all ranks";
  if (!facts.stacks.empty())
    return "py-spy dump of every rank's process at the same time: those that are not in a "
           "collective are the ones";
  return "py-spy dump --pid PID of every rank while it stands, or `ncclras -v` on any of its hosts";
}

}  // namespace ringside::hang

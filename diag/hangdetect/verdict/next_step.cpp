#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/network_lines.h"
#include "diag/hangdetect/verdict/explain.h"

namespace ringside::hang {
namespace {

/// Where the lines say that the rank runs: ` on n01`; empty where they do not.
std::string host_of(const LogFacts& facts, int rank) {
  const auto found = facts.processes.find(rank);
  return found == facts.processes.end() || found->second.host.empty() ? ""
                                                                      : " on " + found->second.host;
}

/// Its process id where it is known, else a word that stands for it.
std::string pid_of(const LogFacts& facts, int rank) {
  const auto found = facts.processes.find(rank);
  return found == facts.processes.end() || found->second.pid < 0
             ? "PID"
             : std::to_string(found->second.pid);
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

/// A connection of ringside's own engine broke: what to try between the two hosts.
std::string_view path_step(std::string_view text) {
  if (text.find("status=") != std::string_view::npos || text.find("IBV_") != std::string_view::npos)
    return "test the path between the two GIDs that the line names: ib_write_bw between them, "
           "ibv_devinfo and rdma link on both, on RoCE ip link and the firewall for UDP port 4791";
  return "test the path between their hosts, both ways: ping -c 3 -M do -s 1472 ADDRESS (-s 8972 "
         "where the MTU is 9000: a size that vanishes shows an MTU that is smaller on the way), "
         "ip -s link and nft list ruleset on both; ringside probe --hosts compares them";
}

}  // namespace

std::string next_step(const Scene& scene, const LogFacts& facts, const Explanation& best) {
  if (best.kind == Kind::NotAHang) return {};
  const auto has = [&](LogStatement::What what, int rank) {
    return std::any_of(
        facts.statements.begin(), facts.statements.end(), [&](const LogStatement& one) {
          return one.what == what && (rank < 0 || std::find(one.ranks.begin(), one.ranks.end(),
                                                            rank) != one.ranks.end());
        });
  };
  if (!best.culprits.empty()) {
    const int rank = best.culprits.front();
    const std::string host = host_of(facts, rank);
    const bool is_of_death = best.kind == Kind::DeadRank || best.kind == Kind::MissingRank;
    if (is_of_death && has(LogStatement::What::Exception, rank))
      return fmt::format(
          "read the traceback of rank {}{} above the line that is quoted: that error "
          "is the first to mend",
          rank, host);
    if (best.kind == Kind::DeadRank && best.why.find("ran out of memory") != std::string::npos)
      return fmt::format(
          "free -h and the limits of the container or the job{}: more memory, fewer "
          "data loader workers, or one rank that loads at a time",
          host);
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
            "py-spy dump --pid {}{}, which is rank {}, while it stands; or that rank's own log",
            pid_of(facts, rank), host, rank);
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
    for (const LogStatement& one : facts.statements) {
      if (one.where.empty()) continue;
      if (one.where.starts_with("pod "))
        return fmt::format(
            "kubectl describe {0}, kubectl logs --previous of it, and which ranks ran there",
            one.where);
      return fmt::format(
          "read the kernel's log of {} (dmesg -T | grep -iE 'oom|killed process|xid'), and which "
          "ranks ran there",
          one.where.starts_with("process") ? "the host of " + one.where : one.where);
    }
    return "read the kernel's log of the hosts (dmesg -T | grep -iE 'oom|killed process|xid') and "
           "the launcher's log: "
           "which process ended first";
  }
  if (best.kind == Kind::NetworkStall) {
    for (const LogStatement& one : facts.statements) {
      if (one.what != LogStatement::What::NetworkError) continue;
      const bool is_told = !best.evidence.empty() && best.evidence.front().line == one.line &&
                           best.evidence.front().file == one.file;
      if (is_told) return std::string(network_step(one.detail));
    }
    for (const LogStatement& one : facts.statements) {
      const bool is_engine =
          one.what == LogStatement::What::EngineCut || one.what == LogStatement::What::EngineGone;
      if (is_engine) return std::string(path_step(one.text));
    }
    return "run `ncclras -v` twice, 30 s apart, on any host while it stands: the same counts mean "
           "a stall; then run "
           "it with NCCL_DEBUG=INFO, and once with NCCL_P2P_DISABLE=1 on one host";
  }
  const std::vector<int> silent = silent_ranks(scene);
  if (facts.timeouts > 0 && !silent.empty() && static_cast<int>(silent.size()) < scene.job.world())
    return scene.is_world_known
               ? fmt::format("get the logs of {}, of which no line here tells of a time-out",
                             ranks_text(silent))
               : "get the logs of all ranks: whose does not tell of this time-out is the one to "
                 "ask";
  if (facts.timeouts > 0)
    return "run again with TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1, and give "
           "the dumps of all ranks";
  if (has(LogStatement::What::Cancelled, -1))
    return "the job is over: run it again with TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and a py-spy dump "
           "of "
           "every rank before its end, or look for the time of each rank's last line";
  if (!facts.stacks.empty())
    return "py-spy dump of every rank's process at the same time: those that are not in a "
           "collective are the ones";
  return "py-spy dump --pid PID of every rank while it stands, or `ncclras -v` on any of its hosts";
}

}  // namespace ringside::hang

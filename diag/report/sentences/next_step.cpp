#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text_parts.h"
#include "diag/hangdetect/verdict/compare_stacks.h"
#include "diag/hangdetect/verdict/decide.h"
#include "diag/job/completion_meaning.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::hang {
namespace {

/// Returns ` on n01`, the host of the rank according to its lines; empty: unknown.
std::string on_host(const LogFacts& logs, int rank) {
  const auto found = logs.processes.find(rank);
  return found == logs.processes.end() || found->second.host.empty() ? ""
                                                                     : " on " + found->second.host;
}

/// Returns the process id if it is known, otherwise a placeholder.
std::string pid_of(const LogFacts& logs, int rank) {
  const auto found = logs.processes.find(rank);
  return found == logs.processes.end() || found->second.pid < 0 ? "PID"
                                                                : std::to_string(found->second.pid);
}

/// Returns whether a rank reports that this one has closed its process group.
bool has_left(const LogFacts& logs, int rank) {
  return std::ranges::any_of(logs.statements, [&](const LogStatement& one) {
    return one.what == LogStatement::What::LeftGroup &&
           std::ranges::find(one.ranks, rank) != one.ranks.end();
  });
}

constexpr std::string_view kKernelLog = "dmesg -T | grep -iE 'oom|killed process|xid'";

/// Returns what to compare where the calls of the ranks differ.
std::string step_for_difference(const Explanation& one, const Job& job, const LogFacts& logs) {
  const auto compared = compare_stacks(one, job, logs);
  if (compared && compared->parting) {
    const Parting& parting = *compared->parting;
    return fmt::format(
        "Look at {}:{} ({}) and at {}:{} ({}), and at the condition that chooses between them.",
        parting.frame.file, parting.frame.line, ranks_text(parting.ranks), parting.other_frame.file,
        parting.other_frame.line, ranks_text(parting.others));
  }
  if (compared && compared->are_equal && one.kind == Kind::DeadlockCycle)
    return fmt::format(
        "Look at the order of the calls of {} and of the ranks in the cycle: each waits there for "
        "the next one, so one of them has to make its other call first.",
        ranks_text(one.culprits));
  if (compared && compared->are_equal)
    return fmt::format(
        "Compare the values that {} and another rank pass there: most other ranks make their call "
        "at the same place.",
        ranks_text(one.culprits));
  if (compared)
    return fmt::format(
        "Compare the stack of {} with those of {} one by one: they are at several places, and most "
        "of them share no caller with {}.",
        ranks_text(one.culprits), ranks_text(compared->others), ranks_text(one.culprits));
  return fmt::format(
      "Compare what rank {} runs there with what another rank runs: stacks (py-spy dump), or the "
      "frames of Flight Recorder dumps (TORCH_FR_BUFFER_SIZE=2000).",
      one.culprits.front());
}

std::string step_for_rank(const Explanation& one, const Job& job, const LogFacts& logs) {
  const int rank = one.culprits.front();
  const std::string host = on_host(logs, rank);
  if (one.has(Feature::OwnException) || one.ground() == Feature::Raised)
    return fmt::format(
        "Read the traceback of rank {}{} above the quoted line: fix that error first.", rank, host);
  const std::string pid = pid_of(logs, rank);
  if (one.ground() == Feature::ProcessStopped || one.has(Feature::AlsoStopped))
    return fmt::format(
        "Find out what stopped process {0} of rank {1}{2} (a debugger, Ctrl-Z, a batch system); to "
        "let it go on: kill -CONT {0}",
        pid, rank, host);
  if (one.ground() == Feature::NoAnswer ||
      (one.has(Feature::AlsoSilent) && one.kind != Kind::DeadRank))
    return fmt::format(
        "Look at the process of rank {1}{2}: ps -o stat= -p {0}. T: it is stopped (kill -CONT "
        "{0}). No line: it is dead ({3}). Otherwise its host is cut off or the process is stuck: "
        "py-spy dump --pid {0}",
        pid, rank, host, kKernelLog);
  if (one.has(Feature::SenderWentOn))
    return fmt::format(
        "Compare the sends and receives of {} with those of {} in their order (ringside hang "
        "--table): one of the two makes one too many or too few.",
        ranks_text(one.culprits), ranks_text(one.waiting));
  switch (one.kind) {
    case Kind::DeadRank:
      if (one.cause == facts::DeathCause::HostMemory)
        return fmt::format(
            "Check free -h and the memory limit of the container or the job{}; use more memory, "
            "fewer data loader workers, or load on one rank at a time.",
            host);
      if (one.cause == facts::DeathCause::ExitCode && one.exit_code == 0)
        return fmt::format(
            "Find where the program of rank {}{} ends before this call: os._exit(), sys.exit(), a "
            "return from its loop. The kernel did not end it.",
            rank, host);
      return fmt::format(
          "Read the kernel log where rank {} ran{} ({}), and the end of its own log.", rank, host,
          kKernelLog);
    case Kind::MissingRank:
    case Kind::Straggler:
      if (has_left(logs, rank))
        return fmt::format(
            "Compare the calls of rank {}, which has left its group, with those of another rank "
            "(ringside hang --table): it made fewer, or a condition of its program ended it early.",
            rank);
      if (rank < job.world() && job.rank(rank).notes.has_stack)
        return fmt::format(
            "Take the stack of rank {}{} again half a minute later, to see whether it "
            "moved: py-spy dump --pid {}",
            rank, host, pid);
      return fmt::format(
          "Take the stack of rank {}{} while the job hangs: py-spy dump --pid {}; or "
          "read its log.",
          rank, host, pid);
    default:
      return step_for_difference(one, job, logs);
  }
}

std::string step_for_death(const Explanation& one) {
  if (one.where.starts_with("pod "))
    return fmt::format(
        "Run kubectl describe {0} and kubectl logs --previous {0}, and find which ranks ran there.",
        one.where);
  return fmt::format("Read the kernel log of {} ({}), and find which ranks ran there.",
                     one.where.empty()                  ? "the hosts"
                     : one.where.starts_with("process") ? "the host of " + one.where
                                                        : one.where,
                     kKernelLog);
}

/// Returns what to test between two hosts if a connection of ringside's own engine broke.
std::string path_step(std::string_view text) {
  if (contains(text, "status=") || contains(text, "IBV_"))
    return "Test the path between the two GIDs that the line names: ib_write_bw between them, "
           "ibv_devinfo and rdma link on both; on RoCE also ip link and the firewall for UDP port "
           "4791.";
  return "Test the path between the two hosts in both directions: ping -c 3 -M do -s 1472 ADDRESS "
         "(-s 8972 where the MTU is 9000), ip -s link and nft list ruleset on both; ringside probe "
         "--hosts compares them.";
}

std::string step_for_network(const Explanation& one, const LogFacts& logs) {
  if (const auto* meaning = job::meaning_of_completion(one.completion); meaning != nullptr)
    return std::string(meaning->fix);
  if (one.reporter == facts::Reporter::Transport && !one.places.empty())
    return "ibstat and dmesg (mlx5) on the host that reports it: the adapter, its port, the cable; "
           "then `ncclras -v` twice, 30 s apart";
  if (one.ground() == Feature::DataLost && one.others.size() == 2) {
    const auto named = [&](int rank) {
      return fmt::format("rank {}{}", rank, on_host(logs, rank));
    };
    const std::string host = on_host(logs, one.others.front());
    if (!host.empty() && host == on_host(logs, one.others.back())) {
      return fmt::format(
          "{} and {} share a host, so no network is between them: take the stacks of both "
          "processes "
          "while the job hangs (py-spy dump --pid PID, or gdb -p PID); look at dmesg and at "
          "df /dev/shm there.",
          named(one.others.front()), named(one.others.back()));
    }
    return fmt::format(
        "Test the path between {} and {}: ping -c 3 -M do -s 1472 ADDRESS, ip -s link "
        "and nft list ruleset on both; ibstat on InfiniBand.",
        named(one.others.front()), named(one.others.back()));
  }
  for (const LogStatement& said : logs.statements) {
    if (said.what == LogStatement::What::EngineCut || said.what == LogStatement::What::EngineGone)
      return path_step(said.text);
  }
  return "Run `ncclras -v` twice, 30 s apart, on any host while the job hangs (equal counts mean a "
         "stall); then run the job with NCCL_DEBUG=INFO, and once with NCCL_P2P_DISABLE=1 on one "
         "host.";
}

/// Returns the ranks for which no line shows a wait.
std::vector<int> silent_ranks(const Job& job) {
  std::vector<int> silent;
  for (int rank = 0; rank < job.world(); ++rank) {
    const RankView& view = job.rank(rank);
    if (view.dump == nullptr && !view.notes.is_waiting && !view.notes.has_stack)
      silent.push_back(rank);
  }
  return silent;
}

}  // namespace

std::string next_of(const Explanation& one, const Job& job, const LogFacts& logs) {
  if (one.kind == Kind::NotAHang) return {};
  if (!one.culprits.empty()) return step_for_rank(one, job, logs);
  if (one.kind == Kind::DeadRank) return step_for_death(one);
  if (one.kind == Kind::NetworkStall) return step_for_network(one, logs);
  const std::vector<int> silent = silent_ranks(job);
  if (logs.timeouts > 0 && !silent.empty() && static_cast<int>(silent.size()) < job.world())
    return is_world_known(job, logs)
               ? fmt::format("Get the logs of {}: no line here shows a time-out of them.",
                             ranks_text(silent))
               : "Get the logs of all ranks: the one without this time-out is the one to look at.";
  if (logs.timeouts > 0)
    return "Run again with TORCH_FR_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1, and give "
           "the dumps of all ranks.";
  if (one.shown == Shown::Cancelled)
    return "The job is over: run it again with TORCH_FR_BUFFER_SIZE=2000, and take a py-spy dump "
           "of every rank before its end; or compare the times of the ranks' last lines.";
  if (!logs.stacks.empty())
    return "Take a py-spy dump of every rank at the same time: ranks that are not in a collective "
           "are the culprits.";
  return "Take the stack of every rank while the job hangs (py-spy dump --pid PID), or run "
         "`ncclras -v` on any of its hosts.";
}

}  // namespace ringside::hang

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Returns the host of a rank without lines of its own: the host of a rank that shares memory with it, or of its block
/// of ranks.
std::int32_t host_of_absent(const CommFacts& comm, std::int32_t rank,
                            const std::map<std::int32_t, int>& seen_on, int full) {
  for (const Link& link : comm.links) {
    if (link.peer != rank || link.via == Via::Net || link.via == Via::CollNet) continue;
    if (comm.mnnvl > 0) continue;
    const Member* member = comm.member(link.rank);
    if (member != nullptr && member->host >= 0) return member->host;
  }
  // Ranks of a host are consecutive, and their number is the same as on the other hosts.
  std::set<std::int32_t> hosts;
  for (std::int32_t other = rank - rank % full; other < rank - rank % full + full; ++other) {
    const Member* member = comm.member(other);
    if (member != nullptr) hosts.insert(member->host);
  }
  if (hosts.size() != 1 || *hosts.begin() < 0) return -1;
  const auto seen = seen_on.find(*hosts.begin());
  return seen != seen_on.end() && seen->second < full ? seen->first : -1;
}

/// Returns whether a person or program ended the job.
bool was_ended(const JobFacts& facts) {
  return !facts.python_errors.empty() ||
         facts.messages.has_any({MessageId::SlurmCancelled, MessageId::SlurmTaskEnded,
                                 MessageId::TorchrunSummary, MessageId::ChildFailed});
}

}  // namespace

void look_for_absent_ranks(const JobFacts& facts, Findings& findings) {
  const CommFacts* world = facts.world();
  if (world == nullptr || world->nranks < 3) return;
  // Communicators joined by size and order may have each other's members if several have one size.
  const bool is_only = facts.comms.size() < 2 || facts.comms[1].nranks < world->nranks;
  if (world->is_guessed && !is_only) return;
  std::set<std::int32_t> seen;
  std::map<std::int32_t, int> seen_on;
  bool is_any_complete = false, are_all_started = true;
  for (const Member& member : world->members) {
    if (seen.insert(member.rank).second) ++seen_on[member.host];
    is_any_complete = is_any_complete || member.is_complete;
    are_all_started = are_all_started && member.is_started;
  }
  // The log of one or two hosts is not the log of the job: only if few ranks are missing does it mean something.
  constexpr int kQuarter = 4;
  const int absent = world->nranks - static_cast<int>(seen.size());
  if (absent < 1 || absent > world->nranks / kQuarter || seen.size() < 2) return;
  int full = 0;
  for (const auto& [host, ranks] : seen_on) full = std::max(full, ranks);

  Finding draft;
  std::set<std::string> hosts;
  for (std::int32_t rank = 0; rank < world->nranks; ++rank) {
    if (seen.count(rank) > 0) continue;
    draft.ranks.push_back(rank);
    const std::int32_t host = host_of_absent(*world, rank, seen_on, full);
    if (host >= 0) hosts.insert(facts.host_name(host));
  }
  draft.hosts.assign(hosts.begin(), hosts.end());
  const std::string where =
      draft.hosts.empty() ? std::string() : fmt::format(" ({})", list_of(draft.hosts));
  const std::string who =
      fmt::format("{} {}{}", absent == 1 ? "rank" : "ranks", format_ranks(draft.ranks), where);
  // No rank passes the bootstrap without the others, so a rank that has connections has met all ranks. In a growing
  // log or an excerpt, the others may still appear; if the job was ended, they did not.
  const bool is_waiting = !is_any_complete && are_all_started && facts.torn_lines == 0;
  const bool is_fault = is_waiting && was_ended(facts);
  Finding& finding = findings.add(
      is_fault ? "bootstrap_failure" : "missing_ranks",
      is_waiting ? Severity::Warning : Severity::Info,
      is_waiting
          ? fmt::format("{} never came; the other {} wait in their start", who, seen.size())
          : fmt::format("nothing of {} in these logs; the job has {} ranks", who, world->nranks),
      draft);
  finding.confidence = is_fault ? Confidence::Medium : Confidence::Low;
  finding.cause =
      is_waiting ? "the processes died before they called NCCL, or were never started: all others "
                   "have begun and none has finished"
                 : "their log was not collected, or NCCL_DEBUG is not set for them";
  finding.fix = is_waiting ? "look at the launcher's log of these ranks"
                           : "export NCCL_DEBUG to all ranks, and give audit the logs of all hosts";
}

void look_for_leaks(const JobFacts& facts, Findings& findings) {
  struct Made {
    int made = 0, closed = 0;
  };
  std::map<std::uint32_t, std::map<std::int32_t, Made>> of_process;  // and number of ranks
  for (const CommFacts& comm : facts.comms) {
    for (const Member& member : comm.members) {
      if (!member.is_complete) continue;
      Made& made = of_process[member.process][comm.nranks];
      ++made.made;
      if (member.is_destroyed || member.is_aborted) ++made.closed;
    }
  }
  constexpr int kLeast = 4;
  std::vector<std::uint32_t> who;
  Made worst;
  std::int32_t nranks = 0;
  for (const auto& [process, sizes] : of_process) {
    // The log shows the end, and ends are visible, if the process closes what it opened first.
    const bool shows_end = sizes.rbegin()->second.closed > 0;
    if (!shows_end || process == 0) continue;
    for (const auto& [size, made] : sizes) {
      const int open = made.made - made.closed;
      if (open < kLeast || open * 2 < made.made) continue;
      who.push_back(process);
      if (open <= worst.made - worst.closed) continue;
      worst = made;
      nranks = size;
    }
  }
  if (who.empty()) return;
  Finding& finding = findings.add(
      "communicator_leak", Severity::Info,
      fmt::format("a rank makes {} communicators of {} and closes {}", worst.made,
                  plural(static_cast<std::size_t>(nranks), "rank", "ranks"), worst.closed));
  findings.add_processes(finding, who);
  finding.confidence = Confidence::Low;
  finding.cause =
      "groups are made again and again and not destroyed: each keeps buffers and threads";
  finding.fix = "make groups once; dist.destroy_process_group(group), ncclCommDestroy";
}

}  // namespace ringside::audit

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/translate.h"
#include "diag/audit/rules/transports.h"
#include "diag/job/watchdog_waits.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// The waits of all ranks for which a watchdog reported. hangdetect decides which rank is late, and why.
struct Waits {
  std::map<std::int32_t, job::Wait> calls = {};  ///< [global rank]: its first timeout
  std::set<std::int32_t> timed_out = {};  ///< includes ranks of which only a status line exists
};

Waits waits_of(const JobFacts& facts) {
  const bool has_any = facts.messages.has_any(kWatchdogLines);
  if (!has_any) return {};
  job::WatchdogWaits all;
  for (const MessageId id : kWatchdogLines) {
    for (const KeptMessage& message : facts.messages[id].kept)
      all.take(message.record(), global_rank_of(facts, message));
  }
  all.complete();
  Waits waits;
  for (const auto& [rank, some] : all.by_rank()) {
    const auto first = std::find_if(some.begin(), some.end(),
                                    [](const job::Wait& wait) { return wait.has_timed_out; });
    if (first != some.end()) waits.calls.emplace(rank, *first);
    const bool are_idle =
        std::all_of(some.begin(), some.end(), [](const job::Wait& wait) { return wait.is_idle(); });
    if (!are_idle) waits.timed_out.insert(rank);
  }
  return waits;
}

/// Handles operations of CPU groups, which time out in Gloo and which no watchdog reports.
void find_gloo_timeouts(const JobFacts& facts, Findings& findings) {
  Finding draft;
  for (const MessageId id :
       {MessageId::GlooTimeout, MessageId::BarrierTimedOut, MessageId::BarrierWaitsForRoot}) {
    if (facts.messages.has(id)) findings.quote(draft, facts.messages[id]);
  }
  if (draft.evidence.empty()) return;
  Finding& finding =
      findings.add("collective_timeout", Severity::Error,
                   "an operation of a CPU group timed out waiting for a peer", draft);
  finding.cause = "a symptom: some rank did not enter this operation within the group's timeout";
  finding.fix = "py-spy dump --pid of the ranks that print nothing; monitored_barrier names them";
}

/// Handles waits of ringside's engine, which names both ends of the connection that received nothing. In a ring each
/// rank waits for a neighbour, and it is random which one times out first: weak evidence for a culprit.
void find_engine_waits(const JobFacts& facts, Findings& findings) {
  const MessageLines& waits = facts.messages[MessageId::EngineWait];
  if (waits.evidence.empty()) return;
  constexpr std::array kWaits = {MessageId::EngineWait};
  if (!findings.has("hang_dead_rank", Severity::Warning))
    translate_hang({kWaits}, HangsOf::Path, facts, findings);
  const KeptMessage& first = waits.kept.front();
  Finding& finding =
      findings.add("collective_timeout", Severity::Error,
                   fmt::format("rank {} gave up on rank {}: {}", first.number("rank"),
                               first.number("other"), first.argument("why")),
                   waits);
  finding.reference = "docs/formats 4.11";
  finding.cause =
      "a symptom: the rank that it waits for did not enter the call, or itself waits for another";
  finding.fix =
      "the ranks that print no such line, and those with the fewest COLL lines, are behind";
}

/// When a rank gave up, all living ranks reported: the engine names the ranks that did not.
void find_stopped_ranks(const JobFacts& facts, Findings& findings) {
  const MessageLines& silent = facts.messages[MessageId::EngineStopped];
  if (silent.evidence.empty()) return;
  constexpr std::array kSilent = {MessageId::EngineStopped};
  translate_hang({kSilent}, HangsOf::Path, facts, findings);
  const std::string_view text = silent.kept.front().text();
  Finding& finding = findings.add("collective_timeout", Severity::Error,
                                  std::string(text.substr(0, text.find(" ("))), silent);
  finding.reference = "docs/formats 4.11";
  finding.cause =
      "a process that is stopped (a debugger, SIGSTOP, a frozen container), or a host "
      "that hangs or is cut off";
  finding.fix = "ps -o pid,stat,wchan on its host: T is stopped, and kill -CONT lets it go on";
}

/// Handles a watchdog whose own thread is stuck: its rank prints no timeout, and ends with this line.
void find_stuck_watchdog(const JobFacts& facts, Findings& findings) {
  const MessageLines& stuck = facts.messages[MessageId::HeartbeatStuck];
  const MessageLines& gil = facts.messages[MessageId::GilHang];
  if (stuck.evidence.empty() && gil.evidence.empty()) return;
  Finding& finding = findings.add("collective_timeout", Severity::Error,
                                  "PyTorch's watchdog itself makes no progress");
  if (!stuck.evidence.empty()) findings.quote(finding, stuck);
  if (!gil.evidence.empty()) findings.quote(finding, gil);
  finding.cause = gil.evidence.empty()
                      ? "its thread is blocked in a call of CUDA's or NCCL's that does not return"
                      : "a thread holds Python's lock and waits for the GPU";
  finding.fix = "py-spy dump --native --pid of that rank";
}

/// Adds an explanation for some operations: the very first one, or a receive.
void explain_operation(const MessageLines& timeouts, Finding& finding) {
  bool is_first = true, is_receive = true, is_known = false;
  for (const KeptMessage& message : timeouts.kept) {
    const TorchWork work = parse_work(message.argument("work"));
    if (work.sequence < 0) continue;  // an exception that repeats the same timeout
    is_known = true;
    is_receive = is_receive && work.operation == "RECV";
    is_first = is_first && work.sequence == 1 && work.operation != "RECV";
  }
  if (!is_known) return;
  if (is_first) {
    finding.cause =
        "the very first collective never finished: a rank did not enter it, or the path between "
        "the GPUs does not deliver (peer-to-peer that a virtual machine or ACS breaks, the "
        "network)";
    finding.fix =
        "NCCL_P2P_DISABLE=1 to see whether peer-to-peer is at fault, NCCL_SHM_DISABLE=1 and "
        "NCCL_IB_DISABLE=1 likewise; check that all ranks start";
  } else if (is_receive) {
    finding.cause =
        "the sender sent nothing for that long: it had no work, was busy elsewhere, or had ended. "
        "A receive that waits for requests is idle, and its watchdog ends it";
    finding.fix =
        "look at the sender's log; where waiting is normal, a longer timeout "
        "(init_process_group(timeout=...)) or messages that keep it alive";
  }
}

constexpr std::array kPathMessages = {MessageId::WatchdogTimeout, MessageId::WatchdogStatus,
                                      MessageId::DumpSignal, MessageId::KernelBlocked,
                                      MessageId::KernelFileServer};

/// The ranks that timed out, and what other ranks did meanwhile.
constexpr LinesOf kPathLines{kPathMessages, true, false};

/// Returns whether a finding of another rule is a cause for which ranks time out.
bool is_hang_explained(const Findings& findings) {
  return findings.has("hang_dead_rank", Severity::Warning) ||
         findings.has("hang_shape_mismatch", Severity::Error) ||
         findings.has("hang_op_mismatch", Severity::Error) ||
         findings.has("mismatched_collective") || findings.has("xid_error", Severity::Error) ||
         findings.has("ib_error", Severity::Error) || findings.has("link_flap") ||
         findings.has("cuda_error", Severity::Error) || findings.has("pcie_acs", Severity::Error);
}

/// Reports the timeouts themselves, a symptom of what other findings explain.
void say_timeouts(const MessageLines& timeouts, const Waits& waits, Findings& findings) {
  // If several groups time out, chooses the operation in which most ranks wait.
  std::map<std::pair<std::string, std::int64_t>, std::size_t> waiters;
  for (const auto& [rank, waiting] : waits.calls) {
    if (!waiting.operation.empty())
      ++waiters[{fmt::format("{} #{}", waiting.operation, waiting.sequence), waiting.timeout_ms}];
  }
  const auto most =
      std::max_element(waiters.begin(), waiters.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool is_known = most != waiters.end();
  std::string where = is_known ? most->first.first : std::string("a collective");
  if (waiters.size() > 1) where = fmt::format("{} and others", where);
  constexpr std::int64_t kMsPerSecond = 1000;
  const std::int64_t timeout_ms = is_known ? most->first.second : 0;
  const std::string who = waits.timed_out.empty() ? std::string("a rank that is not named")
                                                  : plural(waits.timed_out.size(), "rank", "ranks");
  Finding& finding = findings.add(
      "collective_timeout", Severity::Error,
      fmt::format(
          "{} gave up waiting in {}{}", who, where,
          timeout_ms > 0 ? fmt::format(" after {} s", timeout_ms / kMsPerSecond) : std::string()),
      timeouts.evidence);
  finding.ranks.assign(waits.timed_out.begin(), waits.timed_out.end());
  finding.cause =
      "a symptom: these ranks entered the operation, and another rank did not, or the network "
      "failed";
  finding.fix =
      "ringside hang on the flight recorder's dumps names the rank "
      "(TORCH_NCCL_TRACE_BUFFER_SIZE=2000)";
  explain_operation(timeouts, finding);
}

}  // namespace

void look_for_timeouts(const JobFacts& facts, Findings& findings) {
  // If the excerpt lacks the timeout's line, the status line reports it.
  const MessageLines& timeouts = facts.messages.has(MessageId::WatchdogTimeout)
                                     ? facts.messages[MessageId::WatchdogTimeout]
                                     : facts.messages[MessageId::WatchdogStatus];
  constexpr std::array kReports = {MessageId::DesyncNeverJoined, MessageId::DesyncNotJoined,
                                   MessageId::BarrierMissing, MessageId::DeepEpTimeout,
                                   MessageId::AnalyserMissing};
  const bool has_report = translate_hang({kReports}, HangsOf::Any, facts, findings);
  find_engine_waits(facts, findings);
  find_stopped_ranks(facts, findings);
  if (timeouts.evidence.empty()) {
    find_stuck_watchdog(facts, findings);
    return find_gloo_timeouts(facts, findings);
  }

  const bool is_explained = has_report || is_hang_explained(findings);
  if (!is_explained) translate_hang(kPathLines, HangsOf::Path, facts, findings);
  say_timeouts(timeouts, waits_of(facts), findings);
}

void look_for_closed_peers(const JobFacts& facts, Findings& findings) {
  Finding draft;
  std::vector<std::uint32_t> closed;  // processes whose peers are gone
  for (const MessageId id :
       {MessageId::RemoteClosed, MessageId::SocketCallFailed, MessageId::GlooClosed,
        MessageId::GlooPairError, MessageId::MpiDisconnect}) {
    const Evidence evidence = evidence_of(facts.messages[id], is_warning);
    draft.evidence.mix(evidence);
    if (evidence.empty()) continue;
    findings.say_who(draft, facts.messages[id].processes);
    closed.insert(closed.end(), facts.messages[id].processes.begin(),
                  facts.messages[id].processes.end());
  }
  // Warnings of the store's threads are common at the end of a job; exceptions of the program are not.
  const Evidence store =
      evidence_of(facts.messages[MessageId::StoreBroken], [](const KeptMessage& message) {
        return contains_any(message.text(), {"DistNetworkError", "RuntimeError"});
      });
  draft.evidence.mix(store);
  if (draft.evidence.empty()) return;
  const bool is_explained =
      findings.has_any(Severity::Error, {"low_bandwidth", "socket_fallback", "gdr_missing"});
  // At the end of a successful job, the last processes to close find the others gone.
  const bool has_raised =
      std::any_of(draft.evidence.lines().begin(), draft.evidence.lines().end(),
                  [](const QuotedLine& line) { return contains(line.text, "RuntimeError: "); });
  const bool has_failed =
      !facts.python_errors.empty() || !store.empty() || has_raised ||
      std::any_of(facts.results.begin(), facts.results.end(), [&](const auto& result) {
        const std::vector<std::uint32_t>& failed = result.second.processes;
        return std::any_of(closed.begin(), closed.end(), [&](std::uint32_t process) {
          return std::binary_search(failed.begin(), failed.end(), process);
        });
      });
  // In an excerpt without communicators nothing shows that the job had finished.
  const bool is_excerpt = facts.comms.empty() && facts.tables.empty() && facts.is_of_job;
  const bool is_ended_from_outside = facts.messages.has(MessageId::SlurmCancelled);
  const bool is_harmless = is_explained || !(has_failed || is_excerpt) || is_ended_from_outside;
  Finding& finding = findings.add("remote_closed", is_harmless ? Severity::Info : Severity::Warning,
                                  "peers closed their connections", draft);
  finding.cause = "a consequence: the process at the other end ended. It is the one to look at";
  finding.fix = "find the first rank with another error, or the one whose log stops";
}

}  // namespace ringside::audit

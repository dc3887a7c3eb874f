#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/translate.h"
#include "diag/audit/rules/transports.h"
#include "diag/audit/rules/waits.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

std::string ranks_words(std::span<const std::int32_t> ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", format_ranks(ranks));
}

/// Ranks that no timeout names, if they are few: those of a job of known size, else the one that is missing
/// among those that are heard of.
std::vector<std::int32_t> few_silent(const Waits& waits) {
  if (waits.nranks > 0) {
    std::vector<std::int32_t> silent = waits.silent();
    const bool is_few =
        silent.size() == 1 || silent.size() * 4 <= static_cast<std::size_t>(waits.nranks);
    if (!is_few) silent.clear();
    return silent;
  }
  std::vector<std::int32_t> absent;
  const std::int32_t highest = waits.timed_out.empty() ? -1 : *waits.timed_out.rbegin();
  for (std::int32_t rank = 0; rank < highest; ++rank) {
    if (waits.timed_out.count(rank) == 0) absent.push_back(rank);
  }
  if (absent.size() != 1 || waits.timed_out.size() < 2) absent.clear();
  return absent;
}

/// A checkpoint that was begun shortly before the first timeout, and not finished by then.
Evidence unfinished_save(const JobFacts& facts, const Place& first_timeout) {
  constexpr std::uint32_t kShortly = 40;  // lines: a training that goes on prints its steps
  const std::vector<KeptLine>& begun = facts.plain_of(PlainLine::Saving).kept;
  const std::vector<KeptLine>& ended = facts.plain_of(PlainLine::Saved).kept;
  Evidence evidence;
  for (const KeptLine& line : begun) {
    const Place& place = line.quoted.place;
    const bool is_shortly_before = place.piece == first_timeout.piece && place < first_timeout &&
                                   first_timeout.line - place.line <= kShortly;
    const bool is_done = std::any_of(ended.begin(), ended.end(), [&](const KeptLine& end) {
      return place < end.quoted.place && end.quoted.place < first_timeout;
    });
    if (is_shortly_before && !is_done) evidence.add(place, line.quoted.process, line.quoted.text);
  }
  return evidence;
}

bool find_slow(const JobFacts& facts, const Waits& waits, const Place& first_timeout,
               Findings& findings) {
  const Evidence save = unfinished_save(facts, first_timeout);
  if (!save.empty()) {
    Finding& finding = findings.add("hang_slow_rank", Severity::Error,
                                    "a checkpoint was being written while ranks gave up waiting");
    finding.evidence = save;
    const std::vector<std::int32_t> silent = few_silent(waits);
    finding.ranks.assign(silent.begin(), silent.end());
    finding.confidence = Confidence::Medium;
    finding.cause = "the ranks that write it come late to the next collective, or not at all";
    finding.fix =
        "look at the file system's speed; write asynchronously, or from all ranks; "
        "init_process_group(timeout=...)";
    return true;
  }
  const PlainLines& stack = facts.plain_of(PlainLine::BusyStack);
  if (!stack.evidence.empty()) {
    Finding& finding = findings.add("hang_slow_rank", Severity::Error,
                                    "a process was busy with files or data while ranks waited");
    finding.evidence = stack.evidence;
    finding.confidence = Confidence::Medium;
    finding.cause = "its stack ends in a checkpoint or in the data loader, not in a collective";
    finding.fix =
        "the storage behind it; init_process_group(timeout=...) if it is legitimately slow";
    return true;
  }
  const PlainLines& progress = facts.plain_of(PlainLine::Progress);
  const std::vector<std::int32_t> silent = few_silent(waits);
  if (silent.empty() || progress.evidence.empty()) return false;
  // The bar has stopped before the timeouts: the training's own bar, of all ranks, would show steps.
  if (!(progress.evidence.lines().front().place < first_timeout)) return false;
  Finding& finding =
      findings.add("hang_slow_rank", Severity::Error,
                   ranks_words(silent) + " did not time out: still busy while the others waited");
  finding.evidence = progress.evidence;
  finding.ranks.assign(silent.begin(), silent.end());
  finding.confidence = Confidence::Medium;
  finding.cause =
      "that rank works on something that the others wait for: its progress bar was not at its end";
  finding.fix =
      "do that work on all ranks or before init_process_group; or init_process_group(timeout=...)";
  return true;
}

/// The kernel says that a task waits for a file system or a device while the others gave up.
bool find_blocked(const JobFacts& facts, const Waits& waits, Findings& findings) {
  Finding draft;
  for (const MessageId id : {MessageId::KernelBlocked, MessageId::KernelFileServer}) {
    if (facts.messages.has(id)) findings.quote(draft, facts.messages[id]);
  }
  if (draft.evidence.empty()) return false;
  const std::vector<std::int32_t> silent = waits.silent();
  Finding& finding = findings.add("hang_slow_rank", Severity::Error,
                                  "a process waits in the kernel: a file system or a driver");
  finding.evidence = draft.evidence;
  finding.ranks.assign(silent.begin(), silent.end());
  finding.hosts = draft.hosts;
  finding.confidence = Confidence::Medium;
  finding.cause = "the task does not come back from a system call, and the others wait for it";
  finding.fix = "cat /proc/<pid>/stack on that host; look at the file server that it names";
  return true;
}

/// What the flight recorder's stock analyser prints of ranks that have no dump.
void find_lost_dumps(const JobFacts& facts, Findings& findings) {
  const PlainLines& lost = facts.plain_of(PlainLine::RecorderLost);
  if (!lost.evidence.empty()) {
    Finding& finding =
        findings.add("dump_missing", Severity::Warning, "the dumps of some ranks are missing");
    finding.evidence = lost.evidence;
    finding.cause = "these ranks were dead or stuck when the others dumped, or do not record";
    finding.fix = "look at these ranks first; ringside hang takes an incomplete set";
  }
}

/// Operations of CPU groups time out in Gloo, and no watchdog speaks.
void find_gloo_timeouts(const JobFacts& facts, Findings& findings) {
  Finding draft;
  for (const MessageId id :
       {MessageId::GlooTimeout, MessageId::BarrierTimedOut, MessageId::BarrierWaitsForRoot}) {
    if (facts.messages.has(id)) findings.quote(draft, facts.messages[id]);
  }
  if (draft.evidence.empty()) return;
  Finding& finding = findings.add("collective_timeout", Severity::Error,
                                  "an operation of a CPU group waited for a peer in vain");
  finding.evidence = draft.evidence;
  finding.ranks = draft.ranks;
  finding.hosts = draft.hosts;
  finding.cause = "a symptom: some rank did not come to this operation within the group's timeout";
  finding.fix = "py-spy dump --pid of the ranks that print nothing; monitored_barrier names them";
}

/// Ranks of a communicator that do not repeat what all that run repeat, once one has given up: those that stand
/// still. Where all say it, those that have made the fewest calls, if they are few.
std::vector<std::int32_t> who_stands(const CommFacts& comm, const std::set<std::uint32_t>& sayers) {
  std::vector<std::int32_t> silent, behind;
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const Member& member : comm.members) {
    if (sayers.count(member.process) == 0) silent.push_back(member.rank);
    fewest = std::min<std::size_t>(fewest, member.ncalls);
    most = std::max<std::size_t>(most, member.ncalls);
  }
  const std::size_t few = comm.members.size() / 2;
  if (!silent.empty()) return silent.size() <= few ? silent : std::vector<std::int32_t>{};
  for (const Member& member : comm.members) {
    if (member.ncalls == fewest && fewest < most) behind.push_back(member.rank);
  }
  return behind.size() <= few ? behind : std::vector<std::int32_t>{};
}

/// Ringside's own engine names both ends of the connection on which nothing came. In a ring everybody waits for
/// a neighbour, and who gives up first is chance: it tells little of who is at fault.
void find_engine_waits(const JobFacts& facts, Findings& findings) {
  const MessageLines& waits = facts.messages[MessageId::EngineWait];
  if (waits.evidence.empty()) return;
  const std::set<std::uint32_t> sayers(waits.processes.begin(), waits.processes.end());
  for (const CommFacts& comm : facts.comms) {
    const bool is_its = std::any_of(comm.members.begin(), comm.members.end(),
                                    [&](const auto& one) { return sayers.count(one.process) > 0; });
    std::vector<std::int32_t> standing =
        is_its ? who_stands(comm, sayers) : std::vector<std::int32_t>{};
    if (standing.empty() || findings.has("hang_dead_rank", Severity::Warning)) continue;
    Finding& finding =
        findings.add("hang_diverged_rank", Severity::Error,
                     ranks_words(standing) + " did not come, and the others gave up");
    finding.evidence = waits.evidence;
    finding.reference = "docs/formats 4.11";
    finding.ranks = std::move(standing);
    finding.cause =
        "it is stopped or busy elsewhere: it alone does not report the failure, or has made fewer "
        "calls than the others";
    finding.fix = "its stack: gdb -p, py-spy dump";
  }
  const KeptMessage& first = waits.kept.front();
  Finding& finding =
      findings.add("collective_timeout", Severity::Error,
                   fmt::format("rank {} gave up on rank {}: {}", first.number("rank"),
                               first.number("other"), first.argument("why")));
  findings.quote(finding, waits);
  finding.reference = "docs/formats 4.11";
  finding.cause = "a symptom: the rank that it waits for did not come, or waits for another itself";
  finding.fix =
      "the ranks that print no such line, and those with the fewest COLL lines, are behind";
}

/// The watchdog's own thread stands still: its rank prints no timeout, and ends with this.
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

/// Says more of a timeout where the operation does: the very first one, or a receive.
void explain_operation(const MessageLines& timeouts, Finding& finding) {
  bool is_first = true, is_receive = true, is_known = false;
  for (const KeptMessage& message : timeouts.kept) {
    const TorchWork work = parse_work(message.argument("work"));
    if (work.sequence < 0) continue;  // an exception that repeats it in other words
    is_known = true;
    is_receive = is_receive && work.operation == "RECV";
    is_first = is_first && work.sequence == 1 && work.operation != "RECV";
  }
  if (!is_known) return;
  if (is_first) {
    finding.cause =
        "the very first collective never finished: a rank did not come to it, or the way between "
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

}  // namespace

void look_for_timeouts(const JobFacts& facts, Findings& findings) {
  // Where an excerpt lacks the line of the time-out, the status tells of it.
  const MessageLines& timeouts = facts.messages.has(MessageId::WatchdogTimeout)
                                     ? facts.messages[MessageId::WatchdogTimeout]
                                     : facts.messages[MessageId::WatchdogStatus];
  const Waits waits = waits_of(facts, findings);
  constexpr std::array kReports = {MessageId::DesyncNeverJoined, MessageId::DesyncNotJoined,
                                   MessageId::BarrierMissing, MessageId::AnalyserMissing};
  const bool has_report = translate_hang(kReports, HangsOf::Any, facts, findings);
  find_lost_dumps(facts, findings);
  find_engine_waits(facts, findings);
  if (timeouts.evidence.empty()) {
    find_stuck_watchdog(facts, findings);
    return find_gloo_timeouts(facts, findings);
  }

  const bool is_explained =
      has_report || findings.has("hang_dead_rank", Severity::Warning) ||
      findings.has("hang_shape_mismatch", Severity::Error) ||
      findings.has("hang_op_mismatch", Severity::Error) || findings.has("mismatched_collective") ||
      findings.has("xid_error", Severity::Error) || findings.has("ib_error", Severity::Error) ||
      findings.has("link_flap") || findings.has("cuda_error", Severity::Error) ||
      findings.has("pcie_acs", Severity::Error);
  if (!is_explained && !find_blocked(facts, waits, findings) &&
      !find_slow(facts, waits, timeouts.evidence.lines().front().place, findings)) {
    translate_hang(kWatchdogLines, HangsOf::Path, facts, findings);
  }

  // Of several groups, the operation that most ranks wait in.
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
  const std::int64_t timeout_ms = is_known ? most->first.second : 0;
  const std::string who = waits.timed_out.empty() ? std::string("a rank that is not named")
                                                  : plural(waits.timed_out.size(), "rank", "ranks");
  Finding& finding = findings.add(
      "collective_timeout", Severity::Error,
      fmt::format("{} gave up waiting in {}{}", who, where,
                  timeout_ms > 0 ? fmt::format(" after {} s", timeout_ms / 1000) : std::string()));
  finding.evidence = timeouts.evidence;
  finding.ranks.assign(waits.timed_out.begin(), waits.timed_out.end());
  finding.cause =
      "a symptom: these ranks came to the operation, and somebody or the network did not";
  finding.fix =
      "ringside hang on the flight recorder's dumps names who (TORCH_NCCL_TRACE_BUFFER_SIZE=2000)";
  explain_operation(timeouts, finding);
}

void look_for_closed_peers(const JobFacts& facts, Findings& findings) {
  Finding draft;
  std::vector<std::uint32_t> closed;  // who finds its peers gone
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
  // Warnings of the store's threads are common at an end; an exception of the program's is not.
  const Evidence store =
      evidence_of(facts.messages[MessageId::StoreBroken], [](const KeptMessage& message) {
        return contains_any(message.text(), {"DistNetworkError", "RuntimeError"});
      });
  draft.evidence.mix(store);
  if (draft.evidence.empty()) return;
  const bool is_explained =
      std::any_of(findings.all().begin(), findings.all().end(), [](const Finding& finding) {
        return finding.severity == Severity::Error && finding.id != "low_bandwidth" &&
               finding.id != "socket_fallback" && finding.id != "gdr_missing";
      });
  // At the end of a job that succeeded, the last to close find the others gone.
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
  // Of an excerpt without communicators nothing says that the job had come to its end.
  const bool is_excerpt = facts.comms.empty() && facts.tables.empty() && facts.is_of_job;
  const bool is_ended_from_outside = facts.messages.has(MessageId::SlurmCancelled);
  const bool is_harmless = is_explained || !(has_failed || is_excerpt) || is_ended_from_outside;
  Finding& finding = findings.add("remote_closed", is_harmless ? Severity::Info : Severity::Warning,
                                  "peers closed their connections");
  finding.evidence = draft.evidence;
  finding.ranks = draft.ranks;
  finding.hosts = draft.hosts;
  finding.cause = "a consequence: the process at the other end ended. It is the one to look at";
  finding.fix = "find the first rank with another error, or the one whose log stops";
}

}  // namespace ringside::audit

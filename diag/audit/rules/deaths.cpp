#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <set>

#include "base/text.h"
#include "diag/audit/hang_view.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/translate.h"
#include "diag/hangdetect/verdict/verdict.h"
#include "diag/report/sentences/hang_sentences.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

Finding& add_dead(Findings& findings, std::string title) {
  Finding& finding = findings.add("hang_dead_rank", Severity::Error, title);
  finding.fix = "look at that rank's own output and at its host's kernel log (dmesg -T)";
  return finding;
}

constexpr std::int64_t kKilled = -9;

void explain_kill(Finding& finding) {
  finding.cause =
      "killed from outside: most often the host or the container ran out of memory (the kernel's "
      "OOM killer), else the scheduler ended it";
  finding.fix = "dmesg -T | grep -i 'killed process' on its host; more memory for the container";
}

/// Returns whether communicators were closed, or a benchmark finished: later lines have no effect on the job.
bool has_ended_well(const JobFacts& facts) {
  const bool is_closed =
      std::any_of(facts.comms.begin(), facts.comms.end(), [](const CommFacts& comm) {
        return std::any_of(comm.members.begin(), comm.members.end(),
                           [](const Member& member) { return member.is_destroyed; });
      });
  return is_closed || std::any_of(facts.tables.begin(), facts.tables.end(),
                                  [](const BenchmarkTable& table) { return table.is_concluded; });
}

/// Returns whether every line of a crash that names its signal names SIGABRT.
bool are_aborts(const MessageLines& crashes) {
  bool has_any = false;
  for (const KeptMessage& line : crashes.kept) {
    const std::int64_t signal = line.number("signal", 0);
    if (signal != 0 && signal != SIGABRT) return false;
    has_any = has_any || signal == SIGABRT;
  }
  return has_any;
}

/// Handles a crash that only the process itself reports. At the end of a successful job it has no effect.
bool find_crash(const JobFacts& facts, Findings& findings) {
  constexpr std::array kCrashes = {MessageId::ProcessCrashed};
  if (!facts.messages.has(kCrashes.front()) || findings.has("plugin_crash")) return false;
  const bool has_failed = !facts.python_errors.empty() || !facts.results.empty() ||
                          !facts.plain_of(PlainLine::RemoteFailed).evidence.empty() ||
                          facts.messages.has(MessageId::WatchdogTimeout);
  if (!has_failed && (!facts.is_of_job || has_ended_well(facts))) return false;
  // A process aborts itself because of an error that it has reported.
  if (has_failed && are_aborts(facts.messages[MessageId::ProcessCrashed])) return false;
  for (const hang::Explanation* crash : findings.hang().explanations_quoting({kCrashes})) {
    if (crash->kind != hang::Kind::DeadRank || crash->confidence < kReportable) continue;
    Finding& finding = add_dead(findings, "a process crashed");
    if (!has_failed) finding.severity = Severity::Warning;
    finding.evidence = findings.hang().evidence_of(*crash, {kCrashes});
    finding.ranks.assign(crash->culprits.begin(), crash->culprits.end());
    finding.confidence = Confidence::Medium;
    finding.cause =
        has_failed ? "it died of a signal of its own, and the others lost their connection to it"
                   : "it died of its own signal; the stack below the line shows where";
    return true;
  }
  return false;
}

/// Lines of launchers, schedulers and kernels that report deaths. hangdetect decides which process died first, and
/// why.
constexpr std::array kDeathLines = {
    MessageId::TorchrunSummary, MessageId::MpiFirstDeath,    MessageId::SlurmOom,
    MessageId::KernelOom,       MessageId::KubernetesEnded,  MessageId::SlurmNodeFailure,
    MessageId::SlurmCancelled,  MessageId::RasDeadProcesses, MessageId::MpiDaemonLost,
    MessageId::ChildFailed,     MessageId::SlurmTaskEnded,   MessageId::RayEnded,
    MessageId::ChildEnded};

/// Returns whether the program chose this status, because of an error that it reports itself. From 128 on, the status may be
/// that of a shell, ssh or a launcher.
bool is_own_status(std::int64_t exit_code) { return exit_code > 0 && exit_code < 128; }

/// Returns the host that torchrun's summary names before the rank.
std::string host_of_summary(const JobFacts& facts, const KeptMessage& line) {
  std::string host;
  for (const KeptMessage& message : facts.messages[MessageId::TorchrunSummary].kept) {
    if (line.place() < message.place()) break;
    if (const std::string_view name = message.argument("host"); !name.empty()) host = name;
  }
  return host;
}

/// Adds `rank 3`, `task 13` and the host, as far as the lines show them.
void name_dead(const JobFacts& facts, const hang::Explanation& death,
               const std::vector<const KeptMessage*>& lines, Finding& finding) {
  std::string who = "a process of the job";
  std::string where;
  for (const KeptMessage* line : lines) {
    const std::string_view tasks = line->argument("tasks");
    if (!tasks.empty() && finding.ranks.empty())
      who = tasks.starts_with("task") ? tasks : fmt::format("task {}", tasks);
    std::string_view node = line->argument("node");
    if (node.empty()) node = line->argument("host");
    if (where.empty()) where = node;
    if (where.empty() && is_message(line->record(), MessageId::TorchrunSummary))
      where = host_of_summary(facts, *line);
  }
  if (!finding.ranks.empty()) who = named_ranks(finding.ranks);
  finding.title = who + " died";
  if (death.exit_code < 0) finding.title += fmt::format(" of signal {}", -death.exit_code);
  if (death.exit_code == kKilled) finding.title += " (SIGKILL)";
  if (where.empty()) return;
  finding.title += " on " + where;
  finding.hosts.push_back(where);
}

/// Adds the reason that the lines state: memory, an external signal, a resource of the node.
void explain_death(const hang::Explanation& death, Finding& finding) {
  const bool is_of_memory = death.cause == facts::DeathCause::HostMemory;
  if (is_of_memory) {
    finding.title += ": its host or container ran out of memory";
    finding.cause =
        "the kernel killed it for lack of host memory: the machine's is used up, or the limit of "
        "the container or the job is reached (OOM killer); what the others see follows from it";
    finding.fix =
        "more memory for the container or the job (Kubernetes: limits.memory, Slurm: --mem); "
        "fewer data loader workers; load checkpoints on one rank at a time";
  } else if (death.exit_code == kKilled) {
    explain_kill(finding);
  }
  constexpr std::string_view kLow = "low on resource: ";
  const std::string_view line = finding.evidence.lines().front().text;
  if (const std::size_t at = line.find(kLow); at != std::string_view::npos) {
    const std::string_view what = line.substr(at + kLow.size());
    finding.title +=
        fmt::format(": the node was low on {}", what.substr(0, what.find_first_of(". ,")));
  }
}

/// Returns the other lines of a report that a launcher or ncclras writes in several lines.
Evidence other_lines_of(const JobFacts& facts, const hang::Explanation& death,
                        const std::vector<const KeptMessage*>& lines) {
  const auto has = [&](MessageId id) {
    return std::any_of(lines.begin(), lines.end(),
                       [id](const KeptMessage* line) { return is_message(line->record(), id); });
  };
  Evidence evidence;
  if (has(MessageId::TorchrunSummary)) {
    evidence = evidence_of(facts.messages[MessageId::ChildFailed], [&](const KeptMessage& message) {
      return message.number("exitcode", 0) == death.exit_code;
    });
    evidence.mix(
        evidence_of(facts.messages[MessageId::TorchrunSummary], [&](const KeptMessage& message) {
          return !death.culprits.empty() && message.number("rank") == death.culprits.front();
        }));
  }
  if (has(MessageId::RasDeadProcesses))
    evidence.mix(facts.messages[MessageId::RasDeadProcesses].evidence);
  return evidence;
}

/// Handles deaths that a launcher, a scheduler or the kernel reports. A status that a program chose counts only if no
/// line shows why it was chosen.
bool find_reported(const JobFacts& facts, Findings& findings) {
  const bool has_any = facts.messages.has_any(kDeathLines);
  if (!has_any) return false;
  const HangView& view = findings.hang();
  const bool says_why =
      !facts.python_errors.empty() || !facts.results.empty() || findings.has_any(Severity::Warning);
  for (const hang::Explanation* death : view.explanations_quoting({kDeathLines})) {
    const bool is_own = is_own_status(death->exit_code);
    const bool is_reported = death->kind == hang::Kind::DeadRank &&
                             death->confidence >= kReportable && !(is_own && says_why);
    if (!is_reported) continue;
    const std::vector<const KeptMessage*> lines = view.messages_of(*death);
    Finding& finding = add_dead(findings, {});
    finding.evidence = view.evidence_of(*death, {});
    finding.evidence.mix(other_lines_of(facts, *death, lines));
    finding.confidence = confidence_of(death->confidence);
    // A launcher that runs on each host knows only local ranks.
    const bool is_local =
        is_message(lines.front()->record(), MessageId::ChildFailed) && death->is_local_rank;
    if (!is_local) finding.ranks.assign(death->culprits.begin(), death->culprits.end());
    finding.cause = hang::why_of(*death);
    name_dead(facts, *death, lines, finding);
    if (is_own) {
      finding.severity = Severity::Warning;
      finding.title += fmt::format(" with exit status {}", death->exit_code);
    }
    explain_death(*death, finding);
    return true;
  }
  return false;
}

/// Handles processes that ncclras reports as dead or not answering.
bool find_in_ras(const JobFacts& facts, Findings& findings) {
  constexpr std::array kReports = {MessageId::RasRanks, MessageId::RasMissingProcesses,
                                   MessageId::RasDeadProcesses, MessageId::AnalyserMissing};
  const LinesOf lines{kReports, false, true};
  const bool has_any = !facts.ras.empty() || facts.messages.has_any(kReports);
  if (!has_any) return false;
  for (const hang::Explanation* one : findings.hang().explanations_quoting(lines)) {
    if (one->kind != hang::Kind::DeadRank || one->confidence < kReportable) continue;
    Finding& finding = add_dead(findings, title_of(hang::why_of(*one)));
    // A process that only does not answer may be slow.
    const Confidence confidence = confidence_of(one->confidence);
    finding.severity = confidence == Confidence::High ? Severity::Error : Severity::Warning;
    finding.confidence = confidence;
    finding.evidence = findings.hang().evidence_of(*one, lines);
    finding.ranks.assign(one->culprits.begin(), one->culprits.end());
    finding.cause = "they have crashed, were stopped, or their host is starved";
    return true;
  }
  return false;
}

/// Handles processes that ncclras MONITOR declares dead.
bool find_in_events(const JobFacts& facts, Findings& findings) {
  const auto is_event = [](const facts::Died& one) { return one.row == "nccl_ras_peer_dead"; };
  const auto first = std::ranges::find_if(facts.stated.deaths, is_event);
  if (first == facts.stated.deaths.end()) return false;
  Finding& finding = add_dead(findings, fmt::format("the RAS network reports process {} on {} dead",
                                                    first->subject.pid, first->subject.host));
  std::set<std::string> hosts;
  for (const facts::Died& one : facts.stated.deaths) {
    if (!is_event(one)) continue;
    finding.evidence.add(one.source.place, 0, one.source.text);
    hosts.insert(one.subject.host);
  }
  finding.hosts.assign(hosts.begin(), hosts.end());
  finding.cause = "it has crashed, was stopped, or its host cannot be reached";
  finding.fix = fmt::format("the last lines of process {} and dmesg, both on {}",
                            first->subject.pid, first->subject.host);
  return true;
}

/// Handles a rank that reports why it ends or leaves while the others wait for it.
void find_leaver(const JobFacts& facts, Findings& findings) {
  const bool has_waits = facts.messages.has_any(kWatchdogLines);
  if (!has_waits) return;
  constexpr std::array kEnds = {MessageId::GroupClosed, MessageId::CudaError};
  translate_hang({kEnds, true, false}, HangsOf::End, facts, findings);
}

void find_dead(const JobFacts& facts, Findings& findings) {
  const bool is_found = find_reported(facts, findings) || find_in_ras(facts, findings) ||
                        find_in_events(facts, findings) || find_crash(facts, findings);
  if (!is_found) find_leaver(facts, findings);
}

}  // namespace

void look_for_dead_ranks(const JobFacts& facts, Findings& findings) {
  find_dead(facts, findings);
  // A process that dies after the scheduler has ended the job was killed by that.
  for (const KeptMessage& message : facts.messages[MessageId::SlurmCancelled].kept) {
    const bool is_planned =
        contains_any(message.text(), {"TIME LIMIT", "PREEMPTION", "JOB REQUEUE"});
    if (!is_planned) continue;
    for (Finding& finding : findings.all()) {
      const bool is_later = finding.id == "hang_dead_rank" && !finding.evidence.empty() &&
                            message.place() < finding.evidence.lines().front().place;
      if (is_later) finding.severity = Severity::Info;
    }
  }
}

}  // namespace ringside::audit

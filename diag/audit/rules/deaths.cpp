#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diag/audit/hang_view.h"
#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/translate.h"
#include "diag/audit/rules/waits.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/verdict/verdict.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// Errors of the program itself, not of those that waited for it.
bool is_own_error(const PythonErrorFact& error) {
  if (contains_any(error.type, {"DistBackendError", "DistStoreError", "DistNetworkError",
                                "ChildFailedError", "KeyboardInterrupt", "SystemExit", "Rendezvous",
                                "Warning", "SignalException"})) {
    return false;
  }
  return !contains_any(error.text,
                       {"NCCL", "Watchdog", "timeout", "Timeout", "Timed out", "timed out",
                        "Connection closed by peer", "Connection reset", "Broken pipe",
                        "mismatch between collectives", "DataLoader worker"});
}

Finding& add_dead(Findings& findings, std::string title) {
  Finding& finding = findings.add("hang_dead_rank", Severity::Error, std::move(title));
  finding.fix = "look at that rank's own output and at its host's kernel log (dmesg -T)";
  return finding;
}

constexpr std::int64_t kKilled = -9;

void say_killed(Finding& finding) {
  finding.cause =
      "killed from outside: most often the host or the container ran out of memory (the kernel's "
      "OOM killer), else the scheduler ended it";
  finding.fix = "dmesg -T | grep -i 'killed process' on its host; more memory for the container";
}

/// Communicators were closed, or a benchmark came to its end: what is said after that has no effect.
bool has_ended_well(const JobFacts& facts) {
  const bool is_closed =
      std::any_of(facts.comms.begin(), facts.comms.end(), [](const CommFacts& comm) {
        return std::any_of(comm.members.begin(), comm.members.end(),
                           [](const Member& member) { return member.is_destroyed; });
      });
  return is_closed || std::any_of(facts.tables.begin(), facts.tables.end(),
                                  [](const BenchmarkTable& table) { return table.is_concluded; });
}

/// A crash that nobody but the process itself reports. At the end of a job that succeeded it has no effect.
bool find_crash(const JobFacts& facts, Findings& findings) {
  const PlainLines& crash = facts.plain_of(PlainLine::Crash);
  const bool has_failed = !facts.python_errors.empty() || !facts.results.empty() ||
                          !facts.plain_of(PlainLine::RemoteFailed).evidence.empty() ||
                          facts.messages.has(MessageId::WatchdogTimeout);
  Evidence crashed;
  std::vector<std::int32_t> ranks;
  for (const KeptLine& line : crash.kept) {
    if (!contains_any(line.quoted.text, {"signal 11", "signal 7", "Segmentation fault"})) continue;
    crashed.add(line.quoted.place, line.quoted.process, line.quoted.text);
    if (line.launcher_rank >= 0) ranks.push_back(line.launcher_rank);
  }
  if (crashed.empty() || findings.has("plugin_crash")) return false;
  if (!has_failed && (!facts.is_of_job || has_ended_well(facts))) return false;
  Finding& finding = add_dead(findings, "a process crashed");
  if (!has_failed) finding.severity = Severity::Warning;
  finding.evidence = crashed;
  finding.ranks = ranks;
  finding.confidence = Confidence::Medium;
  finding.cause = has_failed
                      ? "it died of a signal of its own, and the others lost their connection to it"
                      : "it died of a signal of its own; the stack below the line says where";
  return true;
}

/// Lines of launchers, schedulers and kernels that tell of deaths. Who died first, and of what, hangdetect says.
constexpr std::array kDeathLines = {
    MessageId::TorchrunSummary, MessageId::MpiFirstDeath,    MessageId::SlurmOom,
    MessageId::KernelOom,       MessageId::KubernetesEnded,  MessageId::SlurmNodeFailure,
    MessageId::SlurmCancelled,  MessageId::RasDeadProcesses, MessageId::MpiDaemonLost,
    MessageId::ChildFailed,     MessageId::SlurmTaskEnded,   MessageId::RayEnded,
    MessageId::ChildEnded};

/// A status that a program chose is the end of an error that it tells of itself.
bool is_own_status(std::int64_t exit_code) { return exit_code > 0 && exit_code < 128; }

/// Of torchrun's summary: the host that it names before the rank.
std::string host_of_summary(const JobFacts& facts, const KeptMessage& line) {
  std::string host;
  for (const KeptMessage& message : facts.messages[MessageId::TorchrunSummary].kept) {
    if (line.place() < message.place()) break;
    if (const std::string_view name = message.argument("host"); !name.empty()) host = name;
  }
  return host;
}

/// `rank 3`, `task 13`, and where, as far as the lines say it.
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
  if (!finding.ranks.empty())
    who = fmt::format("{} {}", finding.ranks.size() == 1 ? "rank" : "ranks",
                      format_ranks(finding.ranks));
  finding.title = who + " died";
  if (death.exit_code < 0) finding.title += fmt::format(" of signal {}", -death.exit_code);
  if (death.exit_code == kKilled) finding.title += " (SIGKILL)";
  if (where.empty()) return;
  finding.title += " on " + where;
  finding.hosts.push_back(where);
}

/// Memory, a signal from outside, a resource of the node: what the lines say beside the death.
void say_why(const hang::Explanation& death, Finding& finding) {
  const bool is_of_memory =
      contains(death.why, hang::kNoMemory) || contains(death.why, "ran out of memory");
  if (is_of_memory) {
    finding.title += ": its host or container ran out of memory";
    finding.cause =
        "the kernel killed it for want of host memory: the machine's is used up, or the limit of "
        "the container or the job is reached (OOM killer); what the others see follows from it";
    finding.fix =
        "more memory for the container or the job (Kubernetes: limits.memory, Slurm: --mem); "
        "fewer data loader workers; load checkpoints on one rank at a time";
  } else if (death.exit_code == kKilled) {
    say_killed(finding);
  }
  constexpr std::string_view kLow = "low on resource: ";
  const std::string_view line = finding.evidence.lines().front().text;
  if (const std::size_t at = line.find(kLow); at != std::string_view::npos) {
    const std::string_view what = line.substr(at + kLow.size());
    finding.title +=
        fmt::format(": the node was low on {}", what.substr(0, what.find_first_of(". ,")));
  }
}

/// Of what a launcher or ncclras writes down in several lines, the others.
Evidence also_told(const JobFacts& facts, const hang::Explanation& death,
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

/// A launcher, a scheduler or the kernel says that a process died.
///
/// A status that a program chose counts where nothing in the text says why it chose it.
bool find_told(const JobFacts& facts, Findings& findings) {
  const bool has_any = std::any_of(kDeathLines.begin(), kDeathLines.end(),
                                   [&](MessageId id) { return facts.messages.has(id); });
  if (!has_any) return false;
  const HangView& view = findings.hang();
  const bool says_why =
      !facts.python_errors.empty() || !facts.results.empty() ||
      std::any_of(findings.all().begin(), findings.all().end(),
                  [](const Finding& finding) { return finding.severity >= Severity::Warning; });
  for (const hang::Explanation* death : view.resting_on(kDeathLines)) {
    const bool is_own = is_own_status(death->exit_code);
    const bool is_told = death->kind == hang::Kind::DeadRank &&
                         death->confidence >= kWorthTelling && !(is_own && says_why);
    if (!is_told) continue;
    const std::vector<const KeptMessage*> lines = view.quoted_by(*death);
    Finding& finding = add_dead(findings, {});
    finding.evidence = view.evidence_of(*death, {});
    finding.evidence.mix(also_told(facts, *death, lines));
    finding.confidence = confidence_of(death->confidence);
    // A launcher of one host knows local ranks only.
    const bool is_local = is_message(lines.front()->record(), MessageId::ChildFailed) &&
                          contains(death->why, "local rank");
    if (!is_local) finding.ranks.assign(death->culprits.begin(), death->culprits.end());
    finding.cause = death->why;
    name_dead(facts, *death, lines, finding);
    if (is_own) {
      finding.severity = Severity::Warning;
      finding.title += fmt::format(" with exit status {}", death->exit_code);
    }
    say_why(*death, finding);
    return true;
  }
  return false;
}

bool find_in_ras(const JobFacts& facts, Findings& findings) {
  Finding missing;
  for (const RasFact& fact : facts.ras) {
    if (!fact.is_rank || (!fact.is_dead && !fact.is_missing)) continue;
    missing.evidence.add(fact.quoted.place, fact.quoted.process, fact.quoted.text);
    missing.ranks.push_back(fact.rank);
  }
  if (facts.messages.has(MessageId::RasRanks)) {
    constexpr std::array kLists = {MessageId::RasRanks, MessageId::AnalyserMissing};
    for (const hang::Explanation* one : findings.hang().resting_on(kLists)) {
      if (one->kind != hang::Kind::DeadRank) continue;
      missing.evidence.mix(facts.messages[MessageId::RasRanks].evidence);
      missing.ranks.assign(one->culprits.begin(), one->culprits.end());
    }
  }
  missing.evidence.mix(facts.messages[MessageId::RasMissingProcesses].evidence);
  missing.evidence.mix(facts.messages[MessageId::RasDeadProcesses].evidence);
  if (missing.evidence.empty()) return false;
  Finding& finding = add_dead(findings, "processes do not answer the RAS network");
  const bool is_dead = facts.messages.has(MessageId::RasDeadProcesses) ||
                       std::any_of(facts.ras.begin(), facts.ras.end(),
                                   [](const RasFact& fact) { return fact.is_dead; });
  finding.severity = is_dead ? Severity::Error : Severity::Warning;
  finding.confidence = Confidence::Medium;
  finding.evidence = missing.evidence;
  finding.ranks = missing.ranks;
  finding.cause = "they have crashed, were stopped, or their host is starved";
  return true;
}

/// A rank that says itself why it ends, or leaves, while the others wait for it.
void find_leaver(const JobFacts& facts, Findings& findings) {
  const MessageLog& messages = facts.messages;
  const Waits waits = waits_of(facts, findings);
  if (waits.timed_out.empty()) return;
  const auto has_left = [&](std::int32_t rank) {
    return rank >= 0 && waits.timed_out.count(rank) == 0;
  };
  const auto add = [&](std::int32_t rank, std::string_view how, const QuotedLine& line,
                       std::string cause) {
    Finding& finding = add_dead(findings, fmt::format("rank {} {}", rank, how));
    finding.evidence.add(line.place, line.process, line.text);
    finding.ranks = {rank};
    finding.cause = std::move(cause);
  };
  const auto quote = [](const KeptMessage& message) {
    return QuotedLine{message.place(), message.process(), std::string(message.line())};
  };
  for (const PythonErrorFact& error : facts.python_errors) {
    if (!has_left(error.rank) || !is_own_error(error)) continue;
    return add(error.rank, "ended with an error of its own", error.quoted,
               fmt::format("{}: {}", error.type, error.text.substr(0, 120)));
  }
  for (const KeptMessage& message : messages[MessageId::GroupClosed].kept) {
    const std::int32_t rank = rank_of(facts, message);
    const Evidence& timeouts = messages[MessageId::WatchdogTimeout].evidence;
    const bool is_before = !timeouts.empty() && message.place() < timeouts.lines().front().place;
    if (!has_left(rank) || !is_before) continue;
    return add(rank, "closed its process group while others waited", quote(message),
               "it left the job, most likely after an error of its own; what the others wait in "
               "cannot end without it");
  }
  for (const KeptMessage& message : messages[MessageId::CudaError].kept) {
    const std::int32_t rank = rank_of(facts, message);
    if (!has_left(rank)) continue;
    return add(rank, "ended with a CUDA error", quote(message),
               std::string(message.text().substr(0, 120)));
  }
}

void find_dead(const JobFacts& facts, Findings& findings) {
  const bool is_found =
      find_told(facts, findings) || find_in_ras(facts, findings) || find_crash(facts, findings);
  if (!is_found) find_leaver(facts, findings);
}

}  // namespace

void look_for_dead_ranks(const JobFacts& facts, Findings& findings) {
  find_dead(facts, findings);
  // Who dies after the scheduler has ended the job dies of that.
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

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/audit/rules/rule.h"
#include "diag/audit/rules/waits.h"
#include "diag/job/job_words.h"

namespace ringside::audit {

using namespace logs;  // its records are this folder's daily words

namespace {

/// Signals that others send when a job ends: no cause of it.
bool is_own_death(std::int64_t exit_code) {
  constexpr std::int64_t kAborted = -6, kTerminated = -15;
  return exit_code < 0 && exit_code != kAborted && exit_code != kTerminated;
}

/// The summary of torchrun: the rank and the exit code of each failure, in the order of its lines.
struct Failure {
  std::int64_t rank = -1, exit_code = 0;
  std::string host;  ///< empty: not said
  QuotedLine quoted;
};
std::vector<Failure> failures_of(const JobFacts& facts) {
  std::vector<Failure> failures;
  std::string host;
  for (const KeptMessage& message : facts.messages[MessageId::TorchrunSummary].kept) {
    if (const std::string_view name = message.argument("host"); !name.empty()) host = name;
    const std::int64_t rank = message.number("rank");
    if (rank >= 0 && contains(message.text(), "local_rank")) {
      failures.push_back(
          {rank, 0, host, {message.place(), message.process(), quotable(message.line())}});
      host.clear();
    }
    const bool is_code = contains(message.text(), "exitcode");
    if (is_code && !failures.empty()) failures.back().exit_code = message.number("exitcode", 0);
  }
  // An agent ends the other children with signals: only the one that it saw first tells.
  std::vector<Failure> first;
  for (const KeptMessage& head : facts.messages[MessageId::TorchrunRootCause].kept) {
    for (const Failure& failure : failures) {
      if (!(head.place() < failure.quoted.place)) continue;
      first.push_back(failure);
      break;
    }
  }
  return first.empty() ? failures : first;
}

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
  if (!has_failed || crashed.empty() || findings.has("plugin_crash")) return false;
  Finding& finding = add_dead(findings, "a process crashed");
  finding.evidence = crashed;
  finding.ranks = ranks;
  finding.confidence = Confidence::Medium;
  finding.cause = "it died of a signal of its own, and the others lost their connection to it";
  return true;
}

/// torchrun's summary names the first of its children that fell.
bool find_in_summary(const JobFacts& facts, Findings& findings) {
  for (const Failure& failure : failures_of(facts)) {
    if (!is_own_death(failure.exit_code)) continue;
    const bool is_killed = failure.exit_code == kKilled;
    Finding& finding =
        add_dead(findings, fmt::format("rank {} died of signal {}{}{}{}", failure.rank,
                                       -failure.exit_code, is_killed ? " (SIGKILL)" : "",
                                       failure.host.empty() ? "" : " on ", failure.host));
    if (!failure.host.empty()) finding.hosts = {failure.host};
    finding.evidence.add(failure.quoted.place, failure.quoted.process, failure.quoted.text);
    finding.evidence.mix(evidence_of(
        facts.messages[MessageId::ChildFailed],
        [](const KeptMessage& message) { return is_own_death(message.number("exitcode", 0)); }));
    finding.ranks = {static_cast<int>(failure.rank)};
    finding.cause = "it crashed by itself";
    if (is_killed) say_killed(finding);
    return true;
  }
  return false;
}

/// A message that tells of a death, the one that says most first.
struct Death {
  MessageId id;
  std::array<std::string_view, 4> words = {};  ///< one of them stands in it; none: any will do
  std::string_view but_not = {};               ///< what it says of no death
};
constexpr std::array kDeaths{
    Death{MessageId::MpiFirstDeath, {"exited on signal"}},
    Death{MessageId::SlurmOom},
    Death{MessageId::KernelOom},
    Death{MessageId::KubernetesEnded, {}, "Back-off"},
    Death{MessageId::SlurmNodeFailure},
    Death{MessageId::RasDeadProcesses},
    Death{MessageId::MpiDaemonLost},
    Death{MessageId::ChildFailed},
    Death{MessageId::SlurmTaskEnded, {"Killed", "Segmentation", "Bus error", "Out Of Memory"}},
    Death{MessageId::RayEnded},
};

/// What falls by SIGKILL after srun or the scheduler has begun to end the step, fell by that.
bool is_ended_by_srun(const JobFacts& facts, const KeptMessage& message) {
  if (!contains(message.argument("how"), "Killed")) return false;
  for (const MessageId id : {MessageId::SlurmStepEnds, MessageId::SlurmCancelled}) {
    const MessageLines& ends = facts.messages[id];
    if (!ends.kept.empty() && ends.kept.front().place() < message.place()) return true;
  }
  return false;
}

bool is_death(const JobFacts& facts, const Death& death, const KeptMessage& message) {
  const std::string_view text = message.text();
  const bool needs_words = !death.words.front().empty();
  const bool has_words =
      std::any_of(death.words.begin(), death.words.end(),
                  [&](std::string_view word) { return !word.empty() && contains(text, word); });
  if (needs_words && !has_words) return false;
  if (!death.but_not.empty() && contains(text, death.but_not)) return false;
  const bool has_code = message.number("exitcode", 0) != 0 || message.number("signal", 0) != 0;
  const std::int64_t code = message.number("exitcode", -message.number("signal", 0));
  if (has_code && !is_own_death(code)) return false;
  if (death.id == MessageId::ChildFailed && !has_code) return false;
  return !job::is_other_program(job::killed_process(message.record())) &&
         !is_ended_by_srun(facts, message);
}

/// `rank 3`, `task 13`, and where, as far as the line says it.
void name_dead(const KeptMessage& message, Finding& finding) {
  const std::int64_t rank = message.number("rank");
  if (rank >= 0) finding.ranks.push_back(static_cast<int>(rank));
  const bool is_titled = !finding.hosts.empty() || finding.ranks.size() > 1;
  if (is_titled) return;
  std::string who = rank >= 0 ? fmt::format("rank {}", rank) : std::string("a process of the job");
  const std::string_view tasks = message.argument("tasks");
  if (!tasks.empty()) who = tasks.starts_with("task") ? tasks : fmt::format("task {}", tasks);
  std::string_view node = message.argument("node");
  if (node.empty()) node = message.argument("host");
  finding.title = fmt::format("{} died{}{}", who, node.empty() ? "" : " on ", node);
  if (!node.empty()) finding.hosts.emplace_back(node);
}

/// Memory, a signal from outside, a resource of the node: what the lines say beside the death.
void say_why(const Death& death, bool is_killed, Finding& finding) {
  const std::vector<QuotedLine>& lines = finding.evidence.lines();
  const bool is_of_memory =
      death.id == MessageId::SlurmOom || death.id == MessageId::KernelOom ||
      std::any_of(lines.begin(), lines.end(), [](const QuotedLine& line) {
        return contains_any(line.text, {"OOMKilled", "Out Of Memory", "oom_kill", "oom-kill",
                                        "memory pressure", "low on memory"});
      });
  if (is_of_memory) {
    finding.title += ": its host or container ran out of memory";
    finding.cause =
        "the kernel killed it for want of host memory: the machine's is used up, or the limit of "
        "the container or the job is reached (OOM killer); what the others see follows from it";
    finding.fix =
        "more memory for the container or the job (Kubernetes: limits.memory, Slurm: --mem); "
        "fewer data loader workers; load checkpoints on one rank at a time";
  } else if (is_killed) {
    say_killed(finding);
  }
  constexpr std::string_view kLow = "low on resource: ";
  const std::string_view line = lines.front().text;
  if (const std::size_t at = line.find(kLow); at != std::string_view::npos) {
    const std::string_view what = line.substr(at + kLow.size());
    finding.title +=
        fmt::format(": the node was low on {}", what.substr(0, what.find_first_of(". ,")));
  }
}

/// A launcher, a scheduler or the kernel says that a process died.
bool find_told(const JobFacts& facts, Findings& findings) {
  for (const Death& death : kDeaths) {
    Evidence evidence;
    bool is_killed = false;
    std::vector<const KeptMessage*> told;
    for (const KeptMessage& message : facts.messages[death.id].kept) {
      if (!is_death(facts, death, message)) continue;
      evidence.add(message.place(), message.process(), message.line());
      told.push_back(&message);
      is_killed = is_killed || message.number("exitcode", 0) == kKilled ||
                  message.number("signal", 0) == -kKilled ||
                  contains(message.argument("how"), "Killed");
    }
    if (evidence.empty()) continue;
    Finding& finding = add_dead(findings, "a process of the job died");
    finding.evidence = evidence;
    finding.cause = std::string(facts_of(death.id).meaning);
    for (const KeptMessage* message : told) name_dead(*message, finding);
    say_why(death, is_killed, finding);
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
  missing.evidence.mix(facts.messages[MessageId::RasMissingProcesses].evidence);
  if (missing.evidence.empty()) return false;
  Finding& finding = add_dead(findings, "processes do not answer the RAS network");
  const bool is_dead = std::any_of(facts.ras.begin(), facts.ras.end(),
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
  const Waits waits = waits_of(facts);
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
  const bool is_found = find_in_summary(facts, findings) || find_told(facts, findings) ||
                        find_in_ras(facts, findings) || find_crash(facts, findings);
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

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// The most characters of a line in a title.
constexpr std::size_t kShownInTitle = 160;

bool is_quoted_anywhere(const Place& place, Findings& findings) {
  return std::any_of(findings.all().begin(), findings.all().end(), [&](const Finding& finding) {
    const std::vector<QuotedLine>& lines = finding.evidence.lines();
    return std::any_of(lines.begin(), lines.end(),
                       [&](const QuotedLine& line) { return line.place == place; });
  });
}

/// Returns whether the catalogue calls the message fatal or degraded; for other lines of a plugin, which are only
/// collected, whether they have words of a failure.
bool is_severe(const KeptMessage& message) {
  const MessageFacts known = facts_of(message.record().as<Message>().id);
  if (known.weight == 'F' || known.weight == 'D') return true;
  if (known.weight == 'N') return false;
  return contains_any(lower_case(message.text()),
                      {"failed", "error", "unable to", "cannot", "denied", "refused", "not running",
                       "fatal", "not supported", "missing", "too old"});
}

/// Adds a finding if the program ended with an exception of the communication stack that no rule handles.
void add_program_error(const JobFacts& facts, Findings& findings) {
  for (const PythonErrorFact& error : facts.python_errors) {
    const std::string words = lower_case(error.type + " " + error.text);
    const bool is_of_stack = contains_any(
        words, {"nccl", "rccl", "gloo", "horovod", "processgroup", "process group", "distributed",
                "collective", "torch.dist", "init_process_group", "oneccl"});
    if (!is_of_stack || contains(error.type, "Warning")) continue;
    constexpr std::size_t kShownOfError = 120;
    Finding& finding = findings.add("system_error", Severity::Warning,
                                    fmt::format("the program ended with {}: {}", error.type,
                                                error.text.substr(0, kShownOfError)));
    finding.evidence.add(error.quoted);
    if (error.rank >= 0) finding.ranks = {error.rank};
    finding.confidence = Confidence::Medium;
    finding.cause =
        "a call of the communication stack was refused or failed, in words that this "
        "audit does not know";
    finding.fix = "read the traceback above the line; NCCL_DEBUG=INFO shows what the library logs";
    return;
  }
}

/// Returns `FasTrak` for `NET/FasTrak plugin initialization failed`; empty: a network of NCCL itself, or none.
std::string plugin_named_in(std::string_view text) {
  constexpr std::string_view kKey = "NET/";
  const std::size_t at = text.find(kKey);
  constexpr std::size_t kLongestHead =
      40;  // of a line before its message; later, the key is an argument
  if (at == std::string_view::npos || at > kLongestHead) return {};
  std::string_view name = text.substr(at + kKey.size());
  name = name.substr(0, name.find_first_of(" :/<"));
  const bool is_own = name == "IB" || name == "Socket" || name == "Plugin" || name == "IBext";
  return is_own ? std::string() : std::string(name);
}

/// `[rank7]: Error while ..` without the rank.
std::string text_behind_labels(std::string_view text) {
  const std::size_t end = text.starts_with('[') ? text.find("]: ") : std::string_view::npos;
  if (end != std::string_view::npos) text.remove_prefix(end + 3);
  return std::string(text.substr(0, kShownInTitle));
}

/// If the reason names a network plugin (`NET/FasTrak ...`), the finding is about that plugin.
void name_failed_plugin(std::string_view reason, Finding& finding) {
  const std::string network = plugin_named_in(reason);
  if (network.empty()) return;
  const std::size_t begin = reason.find_first_not_of(" :", reason.find(network) + network.size());
  finding.id = "net_init_error";
  finding.title = fmt::format("the network plugin {} fails: {}", network,
                              reason.substr(std::min(begin, reason.size())));
  finding.fix =
      contains_any(network, {"TCPX", "FasTrak"})
          ? "the receive manager (RxDM, the sidecar container of GPUDirect-TCPX) must run on every "
            "host, with the job's volumes and devices; the line quoted names what is missing"
          : "what the line quoted names: the plugin's variables, devices and version; "
            "NCCL_DEBUG=INFO shows the lines before it";
}

/// Returns a warning without NCCL's prefix, as the library worded it.
std::string text_of_warning(std::string_view line) {
  constexpr std::string_view kLevel = "CCL WARN ";
  const std::size_t at = line.find(kLevel);
  if (at != std::string_view::npos) line.remove_prefix(at + kLevel.size());
  return std::string(line.substr(0, kShownInTitle));
}

/// Returns warnings of the library that no finding quotes. `reason` is set to the text of the first severe one,
/// otherwise of the first: most are harmless, unless a call fails after them.
Evidence unquoted_warnings(const JobFacts& facts, Findings& findings, std::string& reason) {
  Evidence warnings;
  bool has_severe = false;
  for (const KeptMessage* message : facts.messages.kept_lines()) {
    if (message->level() != Level::Warn || is_quoted_anywhere(message->place(), findings)) continue;
    if (warnings.empty()) reason = message->text();
    if (!has_severe && is_severe(*message)) {
      has_severe = true;
      reason = message->text();
    }
    warnings.add(message->quoted());
  }
  return warnings;
}

}  // namespace

/// Adds a finding for severe warnings that no finding is about: without it, the job would look healthy.
void look_for_unhandled_warnings(const JobFacts& facts, Findings& findings) {
  const bool is_explained = findings.has_any(Severity::Warning);
  // After a completed start, calls fail when the job ends, which is harmless.
  const bool is_started = facts.has_started();
  if (is_explained || is_started) return;
  // Evidence keeps only some of many lines: a finding that quotes one of them covers all lines of its message.
  std::set<MessageId> spoken;
  for (const KeptMessage* message : facts.messages.kept_lines()) {
    if (is_quoted_anywhere(message->place(), findings))
      spoken.insert(message->record().as<Message>().id);
  }
  Evidence warnings;
  const KeptMessage* first = nullptr;
  std::vector<std::uint32_t> who;
  for (const KeptMessage* message : facts.messages.kept_lines()) {
    const bool is_unhandled = message->level() == Level::Warn && is_severe(*message) &&
                              !spoken.contains(message->record().as<Message>().id);
    if (!is_unhandled) continue;
    if (first == nullptr) first = message;
    warnings.add(message->quoted());
    who.push_back(message->process());
  }
  if (first == nullptr) return add_program_error(facts, findings);
  const MessageFacts known = facts_of(first->record().as<Message>().id);
  Finding& finding =
      findings.add("system_error", Severity::Warning,
                   "NCCL warns: " + std::string(first->text().substr(0, kShownInTitle)), warnings);
  findings.add_processes(finding, who);
  finding.confidence = Confidence::Medium;
  finding.cause = known.weight == 'I' ? std::string("a part of the stack reports that it failed")
                                      : std::string(known.meaning);
  finding.fix =
      "the line quoted names what failed; NCCL_DEBUG=INFO shows the lines before it, and "
      "whether the job goes on without";
  name_failed_plugin(first->text(), finding);
}

namespace {

/// Reports the text after `Last error:`, NCCL's last warning: the reason, in a wording that no rule knows.
/// returns  whether there is one
bool report_last_error(const JobFacts& facts, Findings& findings) {
  const PlainLines& last = facts.plain_of(PlainLine::LastError);
  if (last.kept.empty()) return false;
  const std::string reason = text_behind_labels(last.kept.front().quoted.text);
  Finding& finding =
      findings.add("system_error", Severity::Error, "NCCL failed: " + reason, last.evidence);
  finding.cause = "NCCL's last warning before it failed: " + reason;
  finding.fix = "NCCL_DEBUG=INFO shows the lines before it";
  return true;
}

/// Reports the warning before a call of the library returned an error: the warning is the reason.
/// has_failed  a line reports that a call failed
/// returns     whether there is one
bool report_warning_before_error(const JobFacts& facts, bool has_failed, Findings& findings) {
  // After a completed start, calls fail when the job ends, which is harmless.
  const bool is_start_lost = !facts.results.empty() && !facts.has_started();
  std::string reason;
  Evidence warned;
  if (is_start_lost || has_failed) warned = unquoted_warnings(facts, findings, reason);
  if (warned.empty() && has_failed && !facts.unread.warnings.empty()) {
    warned = facts.unread.warnings;
    reason = text_of_warning(warned.lines().front().text);
  }
  if (warned.empty()) return false;
  Finding& finding =
      findings.add("system_error", Severity::Error, "NCCL failed: " + reason, warned);
  finding.cause = warned.lines().front().text;
  finding.fix = "the line quoted names what is missing; NCCL_DEBUG=INFO shows the lines before it";
  name_failed_plugin(reason, finding);
  return true;
}

}  // namespace

void look_for_unexplained_errors(const JobFacts& facts, Findings& findings) {
  const bool is_explained = findings.has_any(Severity::Error, {"truncated_table", "low_bandwidth"});
  if (is_explained || report_last_error(facts, findings)) return;
  const Evidence benchmark = evidence_of(
      facts.messages[MessageId::BenchmarkError],
      [](const KeptMessage& message) { return contains(message.text(), "NCCL failure"); });
  const Evidence& cuda = facts.plain_of(PlainLine::CudaCallFailed).evidence;
  const Evidence& system = facts.plain_of(PlainLine::SystemError).evidence;
  const Evidence& remote = facts.plain_of(PlainLine::RemoteFailed).evidence;
  const Evidence& other = facts.plain_of(PlainLine::OtherNcclError).evidence;
  const bool has_failed = !system.empty() || !cuda.empty() || !other.empty() || !benchmark.empty();
  if (report_warning_before_error(facts, has_failed, findings)) return;
  const auto add = [&](std::string_view id, Severity severity, std::string_view title,
                       const Evidence& evidence, std::string_view cause) {
    Finding& finding = findings.add(id, severity, std::string(title), evidence);
    finding.cause = cause;
    finding.fix = "NCCL_DEBUG=INFO   # and run again";
  };
  if (!system.empty()) {
    add("system_error", Severity::Error, "NCCL failed, and this log does not show why", system,
        "a system call or a library failed; at this level of debugging NCCL does not name it");
  } else if (!cuda.empty()) {
    add("cuda_error", Severity::Error,
        "a CUDA call of NCCL fails, and this log does not show which", cuda,
        "at this level of debugging NCCL does not name the call and its error");
  } else if (!remote.empty()) {
    add("remote_closed", Severity::Warning, "a peer is gone, and this log does not show why",
        remote,
        "a consequence: another process ended or the network failed. Look at the other ranks' "
        "logs");
  } else if (!other.empty() || !benchmark.empty()) {
    add("system_error", Severity::Error, "NCCL failed, and this log does not show why",
        other.empty() ? benchmark : other,
        "at this level of debugging NCCL does not report what it found wrong");
  }
}

}  // namespace ringside::audit

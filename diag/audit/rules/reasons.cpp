#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "diag/audit/rules/rule.h"
#include "diag/logparse/cursor.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A failure that a line states by itself, whichever program wrote it; the table is reasons/all.def.
struct Reason {
  PlainLine line;
  std::string_view id;
  Severity severity;
  std::string_view title, cause, fix;
};

constexpr Reason kReasons[] = {
#define RINGSIDE_REASON(name, id, severity, title, cause, fix) \
  {PlainLine::name, #id, Severity::severity, title, cause, fix},
#include "diag/audit/reasons/all.def"
};

/// Messages of the catalogue that belong to a reason.
struct ReasonRow {
  PlainLine line;
  MessageId message;
  bool is_warning;  ///< on its own it is only a warning
};

constexpr ReasonRow kReasonRows[] = {
#define RINGSIDE_CATALOGUED(name, message) {PlainLine::name, MessageId::message, true},
#define RINGSIDE_NOTED(name, message) ReasonRow{PlainLine::name, MessageId::message, false},
#include "diag/audit/reasons/all.def"
};

/// The part of the reason's first line that a title quotes.
struct Shown {
  enum class How : std::uint8_t { Behind, From, Only };
  PlainLine line;
  How how;
  std::string_view key;
};

constexpr Shown kShown[] = {
#define RINGSIDE_SHOWN(name, how, key) {PlainLine::name, Shown::How::how, key},
#include "diag/audit/reasons/all.def"
};

/// A value of the line, which title, cause and fix reference as `{field|default}`.
struct Value {
  PlainLine line;
  std::string_view field;
  PlainLine of;  ///< the line that is searched first
  std::string_view key;
};

constexpr Value kValues[] = {
#define RINGSIDE_VALUE(name, field, of, key) {PlainLine::name, #field, PlainLine::of, key},
#include "diag/audit/reasons/all.def"
};

/// Returns the part of a reason's line that is added to the title.
std::string quoted_part(PlainLine line, std::string_view text) {
  constexpr std::size_t kLongest = 100;
  for (const Shown& shown : kShown) {
    const std::size_t at = shown.line == line ? text.find(shown.key) : std::string_view::npos;
    if (at == std::string_view::npos) continue;
    if (shown.how == Shown::How::Only) return fmt::format(": {}", shown.key);
    const std::size_t begin = at + (shown.how == Shown::How::Behind ? shown.key.size() : 0);
    return fmt::format(": {}", text.substr(begin, kLongest));
  }
  return {};
}

/// Returns the word after a key, up to a blank, a quote or a bracket. A key `^TEXT` matches at the start of the line.
std::string_view word_behind(std::string_view text, std::string_view key) {
  const bool is_at_start = key.starts_with('^');
  if (is_at_start) key.remove_prefix(1);
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos || (is_at_start && at > 0)) return {};
  const std::string_view rest = text.substr(at + key.size());
  std::string_view word = rest.substr(0, rest.find_first_of(" \t,;()[]{}<>'\"`|"));
  while (!word.empty() && (word.back() == '.' || word.back() == ':')) word.remove_suffix(1);
  return word;
}

/// Fills values of the line into the sentence: `ss -ltnp | grep {port|<port>}`.
std::string filled_in(const JobFacts& facts, std::string_view sentence, PlainLine line) {
  std::string filled;
  for (;;) {
    const std::size_t open = sentence.find('{');
    const std::size_t bar = sentence.find('|', open == std::string_view::npos ? open : open + 1);
    const std::size_t close = sentence.find('}', bar);
    filled += sentence.substr(0, open);
    if (open == std::string_view::npos || close == std::string_view::npos) return filled;
    const std::string_view field = sentence.substr(open + 1, bar - open - 1);
    std::string_view value;
    for (const Value& known : kValues) {
      if (known.line != line || known.field != field) continue;
      const bool is_last = known.key.starts_with('$');
      const std::string_view key = known.key.substr(is_last ? 1 : 0);
      for (const KeptLine& kept : facts.plain_of(known.of).kept) {
        const std::string_view word = word_behind(kept.quoted.text, key);
        if (!word.empty() && (value.empty() || is_last)) value = word;
      }
    }
    filled += value.empty() ? sentence.substr(bar + 1, close - bar - 1) : value;
    sentence.remove_prefix(close + 1);
  }
}

/// Returns the node whose process failed, which the job master names in its last line before a place.
std::string node_before(const JobFacts& facts, logs::Place place) {
  std::string node;
  for (const KeptMessage& message : facts.messages[MessageId::AgentRestart].kept) {
    if (place < message.place()) break;
    node = message.argument("node");
    node = node.substr(node.rfind(' ') + 1);  // the job's name precedes it
  }
  return node;
}

/// A wait during startup that ended before the job continued is harmless.
Severity severity_of_reason(const JobFacts& facts, const Reason& reason) {
  const bool may_pass = reason.line == PlainLine::SubsetWaits;
  const bool is_started = facts.has_started();
  return may_pass && is_started ? Severity::Info : reason.severity;
}

/// Returns all lines of a reason: lines printed by programs, and lines of the catalogue.
MessageLines lines_of(const JobFacts& facts, PlainLine line) {
  MessageLines lines;
  const PlainLines& plain = facts.plain_of(line);
  lines.evidence = plain.evidence;
  for (const KeptLine& kept : plain.kept) lines.processes.push_back(kept.quoted.process);
  for (const ReasonRow& row : kReasonRows) {
    if (row.line != line) continue;
    const MessageLines& messages = facts.messages[row.message];
    if (!row.is_warning) {
      lines.evidence.mix(messages.evidence);
      lines.processes.insert(lines.processes.end(), messages.processes.begin(),
                             messages.processes.end());
      continue;
    }
    lines.evidence.mix(evidence_of(messages, is_warning));
    for (const KeptMessage& message : messages.kept) {
      if (is_warning(message)) lines.processes.push_back(message.process());
    }
  }
  return lines;
}

/// Returns `cn07` for `[1718112001.330213] [cn07:41233:0] ib_iface.c:1038 UCX  ERROR ...`, the prefix of UCX and Open
/// MPI.
std::vector<std::string> hosts_in_prefixes(const Evidence& evidence) {
  std::vector<std::string> hosts;
  for (const QuotedLine& line : evidence.lines()) {
    std::string_view rest = line.text;
    for (int tag = 0; tag < 2 && rest.starts_with('['); ++tag) {
      const std::size_t end = rest.find(']');
      if (end == std::string_view::npos) break;
      const std::string_view inner = rest.substr(1, end - 1);
      const std::size_t colon = inner.find(':');
      const std::string_view host = inner.substr(0, colon);
      const bool is_pid =
          colon != std::string_view::npos && colon + 1 < inner.size() &&
          inner.substr(colon + 1).find_first_not_of("0123456789:") == std::string_view::npos;
      // A time of day begins with a digit. Host names that do so are not recognised.
      const bool is_name = !host.empty() &&
                           std::isalpha(static_cast<unsigned char>(host[0])) != 0 &&
                           host.find_first_of(" /=") == std::string_view::npos;
      if (is_pid && is_name) hosts.emplace_back(host);
      rest = trimmed_left(rest.substr(end + 1));
    }
  }
  sort_once(hosts);
  return hosts;
}

void add_reason(const JobFacts& facts, const Reason& reason, Findings& findings) {
  const MessageLines lines = lines_of(facts, reason.line);
  if (lines.evidence.empty()) return;
  // A finding of another rule from the library's own lines is more precise.
  const bool is_of_catalogue =
      std::ranges::find(kReasonRows, reason.line, &ReasonRow::line) != std::end(kReasonRows);
  if (!is_of_catalogue && findings.has(reason.id, Severity::Warning)) return;
  const std::string_view first = lines.evidence.lines().front().text;
  Finding& finding = findings.add(
      reason.id, severity_of_reason(facts, reason),
      filled_in(facts, reason.title, reason.line) + quoted_part(reason.line, first), lines);
  if (finding.hosts.empty()) {
    const std::string node = node_before(facts, lines.evidence.lines().front().place);
    if (!node.empty()) finding.hosts = {node};
  }
  if (finding.hosts.empty()) finding.hosts = hosts_in_prefixes(lines.evidence);
  if (reason.id == "gpu_hardware_error" && !finding.hosts.empty())
    finding.title += fmt::format(" on {}", list_of(finding.hosts));
  finding.cause = filled_in(facts, reason.cause, reason.line);
  finding.fix = filled_in(facts, reason.fix, reason.line);
  const KnownFault fault = known_fault(facts, reason.line);
  if (fault.title.empty()) return;
  finding.title += "; " + fault.title;
  if (!fault.fix.empty()) finding.fix = fault.fix + "; " + finding.fix;
}

}  // namespace

void look_for_reasons(const JobFacts& facts, Findings& findings) {
  for (const Reason& reason : kReasons) add_reason(facts, reason, findings);
  // Device-initiated networking needs GDRCopy: without it the job has no such network at all.
  const bool has_lost_gin = facts.messages.has(MessageId::GinUnavailable);
  for (Finding& finding : findings.all()) {
    if (finding.id != "gdrcopy_missing" || !has_lost_gin) continue;
    finding.severity = Severity::Error;
    finding.title += ", and device-initiated networking (GIN) cannot start without it";
    finding.evidence.mix(facts.messages[MessageId::GinUnavailable].evidence);
  }
}

}  // namespace ringside::audit

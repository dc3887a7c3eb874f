#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/wording.h"
#include "diag/audit/findings.h"
#include "diag/audit/summary.h"
#include "diag/report/audit_parts.h"
#include "diag/report/audit_report.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

constexpr std::size_t kFewLines = 3;  ///< lines of evidence, unless the user asks for more

std::string severity_word(Severity severity, const TextStyle& style) {
  const char* word = severity == Severity::Error     ? "ERROR"
                     : severity == Severity::Warning ? "WARN "
                                                     : "note ";
  if (!style.has_colour) return word;
  const char* colour = severity == Severity::Error     ? "\x1b[1;31m"
                       : severity == Severity::Warning ? "\x1b[1;33m"
                                                       : "\x1b[2m";
  return fmt::format("{}{}\x1b[0m", colour, word);
}

std::string who_text(const Finding& finding) {
  std::string text;
  if (!finding.ranks.empty()) text = named_ranks(finding.ranks);
  if (!finding.hosts.empty())
    text += fmt::format("{}{}", text.empty() ? "on " : " on ", list_of(finding.hosts));
  return text;
}

/// Returns a line without the prefix that names its writer: the field `who` names the writers of all lines.
std::string_view text_of_line(std::string_view line) {
  constexpr std::string_view kInfo = "NCCL INFO ", kWarn = "NCCL WARN ";
  const std::size_t info = line.find(kInfo);
  if (info != std::string_view::npos) return line.substr(info + kInfo.size());
  const std::size_t warn = line.find(kWarn);
  if (warn != std::string_view::npos) return line.substr(warn + 5);
  // `[rank6]:[E ProcessGroupNCCL.cpp:1537] `
  const std::size_t source =
      line.starts_with("[rank") ? line.find(".cpp:") : std::string_view::npos;
  const std::size_t end = source == std::string_view::npos ? source : line.find("] ", source);
  return end == std::string_view::npos ? line : line.substr(end + 2);
}

void add_finding(const Audit& audit, const Finding& finding, int depth, const TextStyle& style,
                 std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 4, ' ');
  const std::string word = severity_word(finding.severity, {});
  std::string title = wrap(fmt::format("{}: {}", finding.id, finding.title),
                           fmt::format("{}{} ", indent, word), indent + "      ", style.width);
  title.replace(indent.size(), word.size(), severity_word(finding.severity, style));
  out += title;
  const std::string inner = indent + "      ";
  const auto field = [&](std::string_view name, const std::string& text) {
    if (text.empty()) return;
    out += wrap(text, fmt::format("{}{:<5} ", inner, name), std::string(inner.size() + 6, ' '),
                style.width);
  };
  field("who", who_text(finding));
  const auto& lines = finding.evidence.lines();
  const std::size_t shown = style.is_verbose ? lines.size() : std::min(lines.size(), kFewLines);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string line =
        fmt::format("{}: {}", short_place(audit, lines[i].place), text_of_line(lines[i].text));
    out += fmt::format("{}{}\n", inner, cut(line, style.width - static_cast<int>(inner.size())));
  }
  if (finding.evidence.count() > shown)
    out += fmt::format("{}... {} such lines\n", inner, finding.evidence.count());
  field("cause", finding.cause);
  if (finding.cost) field("cost", finding.cost->text);
  field("fix", finding.fix);
  field("unseen", list_of(finding.unseen, finding.unseen.size()));
  if (finding.confidence != Confidence::High)
    field("sure", std::string(to_string(finding.confidence)) + " confidence");
}

}  // namespace

std::string report_text(const Audit& audit, const TextStyle& style) {
  std::string text;
  for (const HeadField& field : head_of(audit)) {
    text += wrap(field.text, fmt::format("{:<9}", field.name), std::string(9, ' '), style.width);
  }
  text += fmt::format("{:<9}{}\n", "found", counts_text(audit.findings));
  bool has_notes = false;
  for (std::size_t i = 0; i < audit.findings.size(); ++i) {
    const Finding& finding = audit.findings[i];
    const bool is_note = finding.severity == Severity::Info;
    if (is_note && !style.is_verbose) {
      has_notes = true;
      continue;
    }
    const int depth = depth_of(audit.findings, i);
    if (depth == 0) text += "\n";
    add_finding(audit, finding, depth, style, text);
  }
  if (audit.worst() >= Severity::Warning) {
    text +=
        fmt::format("\nmore of a finding: ringside audit --about {}\n", audit.findings.front().id);
  }
  if (has_notes) {
    text += "\nbesides, with --verbose in full:\n";
    for (const Finding& finding : audit.findings) {
      if (finding.severity != Severity::Info) continue;
      text += wrap(fmt::format("{}: {}", finding.id, finding.title), "  ", "      ", style.width);
    }
  }
  for (const std::string& reason : unread_inputs(audit)) {
    text += wrap(reason, "not read: ", "      ", style.width);
  }
  return text;
}

std::string unparsed_text(const Audit& audit, const TextStyle& style) {
  std::string text = "lines by kind:\n";
  for (int kind = 0; kind < kRecordKinds; ++kind) {
    const std::uint64_t count = audit.parsed.counts.records[static_cast<std::size_t>(kind)];
    if (count > 0)
      text += fmt::format("{:>12}  {}\n", count, to_string(static_cast<RecordKind>(kind)));
  }
  text += fmt::format("\nNCCL lines that nothing describes, by shape: {}\n",
                      audit.parsed.unparsed.size());
  for (const UnparsedShape& shape : audit.parsed.unparsed) {
    text += cut(fmt::format("{:>12}  {}", shape.count, shape.shape), style.width) + "\n";
    text += cut(fmt::format("              {}: {}", audit.place_text(shape.first), shape.example),
                style.width) +
            "\n";
  }
  return text;
}

}  // namespace ringside::audit

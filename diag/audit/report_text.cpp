#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diag/audit/findings.h"
#include "diag/audit/report.h"
#include "diag/audit/summary.h"
#include "diag/audit/text_lines.h"

namespace ringside::audit {
namespace {

constexpr std::size_t kFewLines = 3;  ///< of evidence, where nobody asks for more

/// Lines that are not what their writers wrote; empty: all are.
std::string damage_of(const logs::ParseCounts& counts) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::uint64_t count, std::string_view what) {
    if (count > 0) parts.push_back(fmt::format("{} {}", plural(count, "line", "lines"), what));
  };
  add(counts.torn, "torn by another's");
  add(counts.overlong, fmt::format("cut at {} KiB", logs::kMaxLine >> 10));
  add(counts.binary, "with NUL bytes");
  return list_of(parts);
}

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
  if (!finding.ranks.empty())
    text = fmt::format("{} {}", finding.ranks.size() == 1 ? "rank" : "ranks",
                       format_ranks(finding.ranks));
  if (!finding.hosts.empty())
    text += fmt::format("{}{}", text.empty() ? "on " : " on ", list_of(finding.hosts));
  return text;
}

/// The file without its folders, and the line; of one file the line alone: the room is the text's.
std::string short_place(const Audit& audit, Place place) {
  if (audit.files.files.size() == 1) return fmt::format("line {}", audit.where(place).line);
  const std::string text = audit.place_text(place);
  return text.substr(text.rfind('/') + 1);
}

/// A line without the prefix that says who: `who` says it for all of them.
std::string_view saying_of(std::string_view line) {
  constexpr std::string_view kInfo = "NCCL INFO ", kWarn = "NCCL WARN ";
  const std::size_t info = line.find(kInfo);
  if (info != std::string_view::npos) return line.substr(info + kInfo.size());
  const std::size_t warn = line.find(kWarn);
  return warn == std::string_view::npos ? line : line.substr(warn + 5);
}

void add_finding(const Audit& audit, const Finding& finding, int depth, const TextStyle& style,
                 std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 4, ' ');
  const std::string title = fmt::format("{}: {}", finding.id, finding.title);
  out += fmt::format("{}{} {}\n", indent, severity_word(finding.severity, style),
                     cut(title, style.width - static_cast<int>(indent.size()) - 6));
  const std::string inner = indent + "      ";
  const auto field = [&](std::string_view name, const std::string& text) {
    if (text.empty()) return;
    out += wrap(text, fmt::format("{}{:<6}", inner, name), std::string(inner.size() + 6, ' '),
                style.width);
  };
  field("who", who_text(finding));
  const auto& lines = finding.evidence.lines();
  const std::size_t shown = style.is_verbose ? lines.size() : std::min(lines.size(), kFewLines);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string line =
        fmt::format("{}: {}", short_place(audit, lines[i].place), saying_of(lines[i].text));
    out += fmt::format("{}{}\n", inner, cut(line, style.width - static_cast<int>(inner.size())));
  }
  if (finding.evidence.count() > shown)
    out += fmt::format("{}... {} such lines\n", inner, finding.evidence.count());
  field("cause", finding.cause);
  if (finding.cost) field("cost", finding.cost->text);
  field("fix", finding.fix);
  if (finding.confidence != Confidence::High)
    field("sure", std::string(to_string(finding.confidence)) + " confidence");
}

std::string head_text(const Audit& audit, const TextStyle& style) {
  const JobFacts& facts = audit.facts;
  std::string text;
  const auto field = [&](std::string_view name, const std::string& value) {
    if (!value.empty())
      text += wrap(value, fmt::format("{:<9}", name), std::string(9, ' '), style.width);
  };
  field("logs", fmt::format("{}, {} lines", plural(audit.files.files.size(), "file", "files"),
                            audit.parsed.counts.lines));
  const std::string damage = damage_of(audit.parsed.counts);
  if (!damage.empty()) field("damaged", damage);
  field("job", fmt::format("{}, {}", versions_text(facts), size_text(facts)));
  std::vector<std::string> transports;
  for (const auto& [name, count] : transports_of(facts))
    transports.push_back(fmt::format("{} {}", count, name));
  if (!transports.empty()) field("moves", "by " + list_of(transports, 6));
  std::vector<std::string> networks;
  for (const auto& [name, said] : facts.networks) networks.push_back(name);
  if (!networks.empty()) field("network", list_of(networks));
  if (facts.world() != nullptr && facts.world()->ring_channels > 0) {
    field("channels", std::to_string(facts.world()->ring_channels));
  }
  for (const BenchmarkTable& table : facts.tables) {
    if (table.rows.empty() || table.rows.back().busbw_gbs < 0) continue;
    const BenchmarkLine& row = table.rows.back();
    std::string line = fmt::format("{} of {}: {:.1f} GB/s busbw",
                                   table.collective.empty() ? "largest size" : table.collective,
                                   format_bytes(Bytes{row.bytes}), row.busbw_gbs);
    if (row.expected_gbs > 0) {
      line += fmt::format("; the model expects {:.1f} GB/s of {}: {:.0f} %", row.expected_gbs,
                          table.expected_of, 100 * row.busbw_gbs / row.expected_gbs);
    }
    field("measured", line);
  }
  return text;
}

int depth_of(const std::vector<Finding>& findings, std::size_t index) {
  int depth = 0;
  for (auto at = findings[index].caused_by; at; at = findings[*at].caused_by) ++depth;
  return depth;
}

/// What could not be read, by reason: a folder may hold thousands of broken files.
void add_problems(const Audit& audit, const TextStyle& style, std::string& text) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto* list : {&audit.files.problems, &audit.parsed.problems}) {
    for (const InputProblem& problem : *list) {
      const std::string named = problem.file + ": ";
      const std::string reason =
          problem.what.starts_with(named) ? problem.what.substr(named.size()) : problem.what;
      const auto known = std::find_if(reasons.begin(), reasons.end(),
                                      [&](const auto& one) { return one.first == reason; });
      if (known == reasons.end()) {
        reasons.push_back({reason, {problem.file}});
      } else {
        known->second.push_back(problem.file);
      }
    }
  }
  for (const auto& [reason, files] : reasons) {
    text +=
        cut(fmt::format("not read: {}: {}", list_of(files, kNamed), reason), style.width) + "\n";
  }
}

}  // namespace

std::string report_text(const Audit& audit, const TextStyle& style) {
  std::string text = head_text(audit, style);
  std::size_t errors = 0, warnings = 0, notes = 0;
  for (const Finding& finding : audit.findings) {
    std::size_t& count = finding.severity == Severity::Error     ? errors
                         : finding.severity == Severity::Warning ? warnings
                                                                 : notes;
    ++count;
  }
  text += fmt::format("{:<9}{}, {}, {}\n", "found", plural(errors, "error", "errors"),
                      plural(warnings, "warning", "warnings"), plural(notes, "note", "notes"));
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
  if (has_notes) {
    text += "\nbesides, with --verbose in full:\n";
    for (const Finding& finding : audit.findings) {
      if (finding.severity != Severity::Info) continue;
      text += cut(fmt::format("  {}: {}", finding.id, finding.title), style.width) + "\n";
    }
  }
  add_problems(audit, style, text);
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

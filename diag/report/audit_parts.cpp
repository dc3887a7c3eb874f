#include "diag/report/audit_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/wording.h"
#include "diag/audit/summary.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Describes lines that are not as their programs wrote them, with counts; empty: none.
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

/// Lists the checks that passed in NCCL 2.31's diagnostics.
std::string checks_of(const JobFacts& facts) {
  std::vector<std::string> parts;
  for (const facts::Warning& warning : facts.stated.warnings) {
    if (warning.severity != facts::Severity::Info) continue;
    if (warning.id == "nccl_diag_ok") {
      parts.push_back(plural(warning.times, "check", "checks") +
                      " of NCCL's diagnostics found nothing wrong");
    } else if (warning.id == "nccl_diag_p2p_indirect") {
      parts.push_back(warning.meaning);
    }
  }
  return list_of(parts);
}

}  // namespace

std::vector<HeadField> head_of(const Audit& audit) {
  const JobFacts& facts = audit.facts;
  std::vector<HeadField> fields;
  const auto field = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) fields.push_back({std::string(name), value});
  };
  std::string logs = fmt::format("{}, {} lines", plural(audit.files.files.size(), "file", "files"),
                                 audit.parsed.counts.lines);
  if (!facts.unread.lines.empty()) {
    logs += fmt::format("; {} of {} lines of the communication stack not understood",
                        facts.unread.lines.count(), facts.stack_lines + facts.unread.lines.count());
  } else if (facts.stack_lines == 0 && facts.lines > 0) {
    logs += "; none of them is of the communication stack";
  }
  field("logs", logs);
  field("damaged", damage_of(audit.parsed.counts));
  field("job", fmt::format("{}, {}", versions_text(facts), size_text(facts)));
  field("checked", checks_of(facts));
  std::vector<std::string> transports;
  for (const auto& [name, count] : transports_of(facts))
    transports.push_back(fmt::format("{} {}", count, name));
  if (!transports.empty()) field("moves", "by " + list_of(transports, 6));
  std::vector<std::string> networks;
  for (const auto& [name, reporters] : facts.networks) {
    // NCCL names both link layers IB.
    const bool is_roce = name == "IB" && facts.has_ports_of("RoCE") && !facts.has_ports_of("IB");
    networks.push_back(is_roce ? "IB (RoCE)" : name);
  }
  field("network", list_of(networks));
  if (facts.world() != nullptr && facts.world()->ring_channels > 0) {
    field("channels", std::to_string(facts.world()->ring_channels));
  }
  for (const BenchmarkTable& table : facts.tables) {
    if (table.rows.empty() || table.rows.back().busbw_gbs < 0) continue;
    const BenchmarkLine& row = table.rows.back();
    std::string line = fmt::format("{} of {}: {:.1f} GB/s busbw",
                                   table.collective.empty() ? "largest size" : table.collective,
                                   near_size_text(row.bytes), row.busbw_gbs);
    if (row.expected_gbs > 0) {
      line +=
          fmt::format("; NCCL's own model expects {:.1f} GB/s of {}: {:.0f} %", row.expected_gbs,
                      table.expected_of, 100 * row.busbw_gbs / row.expected_gbs);
    } else {
      line += "; these hosts are unknown to the model, so that no rate is expected (--cluster)";
    }
    field("measured", line);
  }
  return fields;
}

std::string counts_text(const std::vector<Finding>& findings) {
  const auto count = [&](Severity severity) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(),
                      [&](const Finding& finding) { return finding.severity == severity; }));
  };
  return fmt::format("{}, {}, {}", plural(count(Severity::Error), "error", "errors"),
                     plural(count(Severity::Warning), "warning", "warnings"),
                     plural(count(Severity::Info), "note", "notes"));
}

int depth_of(const std::vector<Finding>& findings, std::size_t index) {
  int depth = 0;
  for (auto at = findings[index].caused_by; at; at = findings[*at].caused_by) ++depth;
  return depth;
}

std::string short_place(const Audit& audit, Place place) {
  if (audit.files.files.size() == 1) return fmt::format("line {}", audit.where(place).line);
  const std::string text = audit.place_text(place);
  return text.substr(text.rfind('/') + 1);
}

std::vector<std::string> unread_inputs(const Audit& audit) {
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
  std::vector<std::string> texts;
  for (const auto& [reason, files] : reasons) {
    texts.push_back(fmt::format("{}: {}", list_of(files, kNamed), reason));
  }
  return texts;
}

}  // namespace ringside::audit

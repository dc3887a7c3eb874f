#include <fmt/format.h>

#include <algorithm>

#include "diag/audit/rules/rule.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

/// Reports cut lines. The end of a line holds `/GDRDMA`, the last device of a list, or the last digits of a value.
void look_for_cut_lines(const JobFacts& facts, Findings& findings) {
  if (facts.cut_at == 0) return;
  Evidence cut;
  for (Finding& finding : findings.all()) {
    if (finding.id != "gdr_missing" && finding.id != "asymmetric_config") continue;
    const bool is_gdr = finding.id == "gdr_missing";
    bool are_all_cut = true, is_any_cut = false;
    for (const QuotedLine& line : finding.evidence.lines()) {
      if (is_gdr && !contains(line.text, " via NET/")) continue;
      const bool is_cut = line.text.size() == facts.cut_at;
      are_all_cut = are_all_cut && is_cut;
      is_any_cut = is_any_cut || is_cut;
      if (is_cut) cut.add(line);
    }
    if (!is_any_cut || (is_gdr && !are_all_cut)) continue;
    finding.severity = Severity::Info;
    finding.confidence = Confidence::Low;
  }
  if (cut.empty()) return;
  Finding& finding =
      findings.add("truncated_message", Severity::Info,
                   fmt::format("the lines of this log end at {} characters", facts.cut_at), cut);
  finding.cause = "a terminal or a collector cut them: the text at their end is lost";
  finding.fix = "give audit the files themselves";
}

}  // namespace ringside::audit

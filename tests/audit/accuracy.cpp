#include "tests/audit/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/json.h"
#include "diag/audit/audit.h"
#include "diag/audit/finding_types.h"
#include "tests/support/shared.h"

namespace ringside::corpus {
namespace {

bool is_due(const Label& label) { return label.severity == "warn" || label.severity == "error"; }

Sample compare(const Json& label, const audit::Audit& audited) {
  Sample sample{.id = label.at("id"), .category = label.at("category")};
  sample.is_real = label.at("fidelity").get<std::string>().rfind("sanitised", 0) == 0;
  sample.is_healthy = label.at("truth_basis").get<std::string>() == "healthy";
  std::set<std::string> labelled, forbidden;
  for (const Json& finding : label.at("findings")) {
    Label one{finding.at("id"), finding.at("severity"), {}};
    for (const Json& line : finding.at("evidence_line_numbers"))
      one.lines.insert(line.get<std::uint64_t>());
    labelled.insert(one.id);
    sample.labels.push_back(std::move(one));
  }
  for (const Json& id : label.at("must_not_report")) forbidden.insert(id.get<std::string>());

  for (const Label& wanted : sample.labels) {
    if (!is_due(wanted)) continue;
    bool is_found = false, overlaps = false;
    for (const audit::Finding& finding : audited.findings) {
      if (!audit::is_a(finding.id, wanted.id) || finding.severity < audit::Severity::Warning)
        continue;
      is_found = true;
      for (const audit::QuotedLine& line : finding.evidence.lines()) {
        overlaps = overlaps || wanted.lines.count(audited.where(line.place).line) > 0;
      }
    }
    if (!is_found) {
      sample.missed.push_back(wanted.id);
      continue;
    }
    ++sample.matched;
    if (overlaps) {
      ++sample.overlapping;
    } else {
      sample.no_overlap.push_back(wanted.id);
    }
  }
  for (const audit::Finding& finding : audited.findings) {
    if (finding.severity < audit::Severity::Warning) continue;
    const audit::FindingType* type = audit::finding_type(finding.id);
    const std::string family(type == nullptr ? std::string_view() : type->family);
    if (forbidden.count(finding.id) + forbidden.count(family) > 0)
      sample.false_alarms.push_back(finding.id);
    if (labelled.count(finding.id) + labelled.count(family) == 0)
      sample.unlabelled.push_back(finding.id);
  }
  return sample;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

}  // namespace

std::vector<Sample> audit_corpus() {
  const std::string folder = shared_folder() + "/corpus/logs";
  constexpr std::string_view kEnd = ".label.json";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > kEnd.size() && name.ends_with(kEnd))
      names.push_back(name.substr(0, name.size() - kEnd.size()));
  }
  std::sort(names.begin(), names.end());
  std::vector<Sample> samples;
  for (const std::string& name : names) {
    const Result<std::string> text = read_file(folder + "/" + name + std::string(kEnd));
    Result<audit::Audit> audited =
        audit::audit_logs({folder + "/" + name + ".log"}, {.threads = 1});
    if (!text || !audited) continue;
    samples.push_back(compare(Json::parse(*text), *audited));
  }
  return samples;
}

Totals totals_of(const std::vector<Sample>& samples) {
  Totals totals;
  for (const Sample& sample : samples) {
    Share& share = sample.is_real ? totals.real : totals.recreated;
    for (const Label& label : sample.labels) {
      if (!is_due(label)) continue;
      const bool is_missed =
          std::find(sample.missed.begin(), sample.missed.end(), label.id) != sample.missed.end();
      for (Share* one : {&share, &totals.by_id[label.id]}) {
        ++one->wanted;
        if (!is_missed) ++one->found;
      }
    }
    totals.false_alarms += static_cast<int>(sample.false_alarms.size());
    if (sample.is_healthy)
      totals.unlabelled_on_healthy += static_cast<int>(sample.unlabelled.size());
    totals.matched += sample.matched;
    totals.overlapping += sample.overlapping;
  }
  return totals;
}

std::string accuracy_page(const std::vector<Sample>& samples) {
  const Totals totals = totals_of(samples);
  const auto real =
      std::count_if(samples.begin(), samples.end(), [](const Sample& s) { return s.is_real; });
  std::string page = fmt::format(
      "# Accuracy of the audit\n\n"
      "Written by `ringside_audit_accuracy` (built with the tests): it audits every labelled log "
      "of the corpus, {} real\n"
      "and {} recreated ones, and compares with the labels. A labelled finding of severity warn or "
      "error counts as found\n"
      "when the audit reports its id at warn or above; its evidence overlaps when one quoted line "
      "is one of the label's.\n\n"
      "The tests gate on these very logs (tests/diag/baseline.tsv), and the rules were written with them in "
      "sight: the figures say\n"
      "that what was once right still is. They are no forecast for a log that nobody has looked "
      "at.\n\n"
      "| measure | figure |\n|---|---:|\n",
      real, static_cast<long>(samples.size()) - real);
  const auto row = [&page](std::string_view name, const std::string& figure) {
    page += fmt::format("| {} | {} |\n", name, figure);
  };
  const auto share = [](const Share& one) {
    return fmt::format("{} of {}, {}", one.found, one.wanted, percent(one.recall()));
  };
  row("findings found, real logs", share(totals.real));
  row("findings found, recreated logs", share(totals.recreated));
  row("false alarms of `must_not_report`", std::to_string(totals.false_alarms));
  row("findings at warn or above without a label, healthy logs",
      std::to_string(totals.unlabelled_on_healthy));
  row("findings whose evidence overlaps the label's",
      fmt::format(
          "{} of {}, {}", totals.overlapping, totals.matched,
          percent(totals.matched == 0 ? 1
                                      : static_cast<double>(totals.overlapping) / totals.matched)));
  page += "\n## By id\n\n| id | labelled | found |\n|---|---:|---:|\n";
  for (const auto& [id, one] : totals.by_id)
    page += fmt::format("| `{}` | {} | {} |\n", id, one.wanted, one.found);
  page += "\n## What differs\n\n";
  const std::size_t before = page.size();
  for (const Sample& sample : samples) {
    const auto note = [&](const std::vector<std::string>& ids, std::string_view what) {
      for (const std::string& id : ids) page += fmt::format("- {}: `{}` {}\n", sample.id, id, what);
    };
    note(sample.missed, "is labelled and not found");
    note(sample.false_alarms, "must not be reported and is");
    note(sample.unlabelled,
         sample.is_healthy ? "is reported on a healthy log" : "is reported and not labelled");
    note(sample.no_overlap, "is found on other lines");
  }
  if (page.size() == before) page += "Nothing.\n";
  return page;
}

Unread unread_lines(const std::string& folder) {
  Unread all;
  for (const auto& entry :
       std::filesystem::directory_iterator(shared_folder() + "/corpus/" + folder)) {
    if (entry.path().extension() != ".log") continue;
    const Result<audit::Audit> audited = audit::audit_logs({entry.path().string()}, {.threads = 1});
    if (!audited) continue;
    const audit::JobFacts& facts = audited->facts;
    all.stack_lines += facts.stack_lines + facts.unread.lines.count();
    all.unread += facts.unread.lines.count();
    for (const logs::UnparsedShape& shape : audited->parsed.unparsed)
      all.shapes[shape.shape] += shape.count;
    for (const audit::QuotedLine& line : facts.unread.texts.lines()) ++all.shapes[line.text];
  }
  return all;
}

std::string unread_page(const Unread& logs, const Unread& pastes) {
  std::string page =
      "\n## What was not read\n\nLines that are the stack's own, by prefix or by words, and that "
      "nothing has read:\n\n| of | lines of the stack | not read | share |\n|---|---:|---:|---:|\n";
  for (const auto& [name, one] : {std::pair{"the corpus' logs", &logs}, {"the pastes", &pastes}}) {
    page += fmt::format("| {} | {} | {} | {} |\n", name, one->stack_lines, one->unread,
                        percent(one->share()));
  }
  page += "\nBy kind:\n\n| lines | shape |\n|---:|---|\n";
  std::map<std::string, std::uint64_t> shapes = logs.shapes;
  for (const auto& [shape, count] : pastes.shapes) shapes[shape] += count;
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [shape, count] : shapes) sorted.emplace_back(count, shape);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [count, shape] : sorted) {
    std::string cell = shape.substr(0, 100);
    for (std::size_t bar = cell.find('|'); bar != std::string::npos; bar = cell.find('|', bar + 2))
      cell.insert(bar, "\\");
    page += fmt::format("| {} | `{}` |\n", count, cell);
  }
  return page;
}

}  // namespace ringside::corpus

#include "tests/audit/generated_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diag/audit/audit.h"
#include "diag/audit/finding_types.h"
#include "engine/releases/releases.h"
#include "engine/topology/sources/load_hosts.h"
#include "harness/logs/log_files.h"
#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"

namespace ringside::grid {
namespace {

/// One kind of host for each property in which they differ: NVSwitch with and without NVLS, meshes of NVLinks, PCIe
/// alone; InfiniBand, RoCE, EFA, Slingshot, Ethernet; a rack with one NVLink domain.
struct Hosts {
  const char* preset;
  int nodes;
};
constexpr Hosts kHosts[] = {{"dgx-h100", 1},        {"dgx-h100", 4}, {"dgx-a100", 2},
                            {"dgx-1v", 2},          {"8x-l40s", 1},  {"8x-l40s", 2},
                            {"perlmutter-a100", 2}, {"aws-p5", 2},   {"dgx-spark", 2},
                            {"gh200", 4},           {"2x-l4", 2},    {"gb200-nvl72", 1}};
/// Returns one version from before the described releases, and each release that is compared with NCCL's own answers,
/// oldest first.
std::vector<std::string> versions() {
  std::vector<std::string> all;
  for (const std::string& release : release_versions()) {
    if (release_caveat(release).empty()) all.push_back(release);
  }
  all.emplace_back("2.12");
  std::ranges::reverse(all);
  return all;
}

}  // namespace

std::vector<Cell> all_cells() {
  std::vector<std::string> names{""};
  for (const Misconfiguration& listed : misconfigurations()) names.emplace_back(listed.name);
  std::vector<Cell> cells;
  const std::vector<std::string> all_versions = versions();
  for (const Hosts& hosts : kHosts) {
    for (const std::string& version : all_versions) {
      for (const std::string& name : names) {
        cells.push_back({hosts.preset, hosts.nodes, version, name, ""});
      }
    }
  }
  return cells;
}

Outcome audit(const Cell& cell) {
  Outcome outcome{.cell = cell};
  LogRequest request;
  request.hosts = *load_hosts(cell.hosts, cell.nodes, std::nullopt);
  request.version = *parse_nccl_version(cell.version);
  request.shown = cell.subsystems.empty() ? default_subsystems(request.version) | Subsystem::Env
                                          : *parse_subsystems(cell.subsystems);
  LogTruth truth;
  if (!cell.misconfiguration.empty()) {
    const auto made = misconfigure(cell.misconfiguration, request);
    if (!made) {
      outcome.is_possible = false;
      outcome.why_not = made.error().message;
      return outcome;
    }
    truth = *made;
  }
  const auto job = LogJob::make(request);
  if (!job) {
    outcome.missed.push_back(job.error().message);
    return outcome;
  }
  add_nature(*job, truth);
  const audit::Audit judged = audit::audit_text(joined_log(*job), "job.log");
  std::set<std::string> allowed{truth.consequences.begin(), truth.consequences.end()};
  for (const LogTruth::Finding& finding : truth.findings) {
    allowed.insert(finding.id);
    const auto least =
        finding.severity == "info" ? audit::Severity::Info : audit::Severity::Warning;
    if (!judged.has(finding.id, least)) outcome.missed.push_back(finding.id);
  }
  std::set<std::string> extra;
  for (const audit::Finding& finding : judged.findings) {
    const bool is_allowed = std::any_of(allowed.begin(), allowed.end(), [&](const auto& id) {
      return audit::is_a(finding.id, id);
    });
    if (finding.severity >= audit::Severity::Warning && !is_allowed) extra.insert(finding.id);
  }
  outcome.extra.assign(extra.begin(), extra.end());
  return outcome;
}

std::string grid_table(const std::vector<Outcome>& outcomes) {
  struct Row {
    int cells = 0, right = 0;
    std::map<std::string, int> missed = {}, extra = {};
  };
  std::map<std::string, Row> rows;
  Row all;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.is_possible) continue;
    for (Row* row : {&rows[outcome.cell.misconfiguration], &all}) {
      ++row->cells;
      if (outcome.is_right()) ++row->right;
      for (const std::string& id : outcome.missed) ++row->missed[id];
      for (const std::string& id : outcome.extra) ++row->extra[id];
    }
  }
  const auto counts = [](const std::map<std::string, int>& of) {
    std::string text;
    for (const auto& [id, count] : of)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", id, count);
    return text;
  };
  std::string text = "| `--break` | logs | right | missed | too much |\n|---|---|---|---|---|\n";
  const auto append = [&](const std::string& name, const Row& row) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name, row.cells, row.right,
                        counts(row.missed), counts(row.extra));
  };
  for (const auto& [name, row] : rows) append(name.empty() ? "none: healthy" : name, row);
  append("all", all);
  return text;
}

}  // namespace ringside::grid

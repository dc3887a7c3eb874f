#include "diag/audit/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.h"
#include "base/text.h"
#include "diag/audit/finding_types.h"
#include "diag/audit/hang_view.h"

namespace ringside::audit {

const char* to_string(Severity severity) {
  return std::array{"info", "warn", "error"}[static_cast<std::size_t>(severity)];
}

const char* to_string(Confidence confidence) {
  return std::array{"low", "medium", "high"}[static_cast<std::size_t>(confidence)];
}

Findings::Findings(const JobFacts& facts) : facts_(facts) {}

Findings::~Findings() = default;

const HangView& Findings::hang() {
  if (!hang_) hang_ = std::make_unique<HangView>(facts_);
  return *hang_;
}

Finding& Findings::add(std::string_view id, Severity severity, std::string title) {
  RINGSIDE_ASSERT(finding_type(id) != nullptr, "no row in finding_types.cpp for '{}'", id);
  all_.push_back({.id = std::string(id), .severity = severity, .title = std::move(title)});
  return all_.back();
}

Finding& Findings::add(std::string_view id, Severity severity, std::string title,
                       const Finding& gathered) {
  Finding& finding = add(id, severity, std::move(title), gathered.evidence);
  finding.ranks = gathered.ranks;
  finding.hosts = gathered.hosts;
  return finding;
}

Finding& Findings::add(std::string_view id, Severity severity, std::string title,
                       Evidence evidence) {
  Finding& finding = add(id, severity, std::move(title));
  finding.evidence = std::move(evidence);
  return finding;
}

const Finding* Findings::find(std::string_view id) const {
  const Finding* worst = nullptr;
  for (const Finding& finding : all_) {
    if (finding.id != id) continue;
    if (worst == nullptr || finding.severity > worst->severity) worst = &finding;
  }
  return worst;
}

bool Findings::has(std::string_view id, Severity at_least) const {
  const Finding* found = find(id);
  return found != nullptr && found->severity >= at_least;
}

Finding& Findings::add(std::string_view id, Severity severity, std::string title,
                       const MessageLines& lines) {
  Finding gathered;
  quote(gathered, lines);
  return add(id, severity, std::move(title), gathered);
}

Finding& Findings::add(std::string_view id, Severity severity, std::string title,
                       const SaidBy& said) {
  Finding gathered;
  quote(gathered, said);
  return add(id, severity, std::move(title), gathered);
}

bool Findings::has_any(Severity at_least, std::initializer_list<std::string_view> besides) const {
  return std::ranges::any_of(all_, [&](const Finding& finding) {
    return finding.severity >= at_least && std::ranges::find(besides, finding.id) == besides.end();
  });
}

void Findings::add_processes(Finding& finding, std::span<const std::uint32_t> processes) const {
  for (const std::uint32_t index : processes) {
    const ProcessFacts& process = facts_.processes[index];
    if (process.rank >= 0) finding.ranks.push_back(process.rank);
    if (process.host >= 0) finding.hosts.push_back(facts_.host_name(process.host));
  }
  sort_once(finding.ranks);
  sort_once(finding.hosts);
}

void Findings::quote(Finding& finding, const MessageLines& lines) const {
  finding.evidence.mix(lines.evidence);
  add_processes(finding, lines.processes);
}

void Findings::quote(Finding& finding, const SaidBy& said) const {
  finding.evidence.mix(said.evidence);
  add_processes(finding, said.processes);
}

std::string named_ranks(std::span<const int> ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", format_ranks(ranks));
}

std::string named_address(const JobFacts& facts, std::string_view address) {
  address = address.substr(0, address.find('<'));
  std::set<std::string> names;
  for (const auto& [key, said] : facts.bootstraps) {
    if (key.second != address) continue;
    for (const std::uint32_t process : said.processes) {
      if (facts.processes[process].host >= 0) names.insert(facts.host_of(process));
    }
  }
  // Hosts behind container bridges share one address: it identifies none of them.
  if (names.size() != 1) return std::string(address);
  return fmt::format("{} ({})", *names.begin(), address);
}

}  // namespace ringside::audit

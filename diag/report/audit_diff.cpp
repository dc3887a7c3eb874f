#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/wording.h"
#include "diag/audit/summary.h"
#include "diag/report/audit_report.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// A property of the job that differs between two runs. An empty text: the logs do not show it.
struct Change {
  std::string what, before, after;
};

std::string joined(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) names.push_back(fmt::format("{} {}", count, name));
  constexpr std::size_t kMostNames = 12;  // list_of() counts the others
  return list_of(names, kMostNames);
}

std::string devices_text(const JobFacts& facts) {
  std::vector<std::string> texts;
  for (const DeviceList& list : devices_of(facts))
    texts.push_back(fmt::format("{}: {}", list.net, fmt::join(list.names, " ")));
  std::sort(texts.begin(), texts.end());
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string networks_text(const JobFacts& facts) {
  std::vector<std::string> names;
  for (const auto& [name, said] : facts.networks) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

float best_busbw(const JobFacts& facts) {
  float best = -1;
  for (const BenchmarkTable& table : facts.tables) {
    for (const BenchmarkLine& row : table.rows) best = std::max(best, row.busbw_gbs);
  }
  return best;
}

/// Compares the facts of two runs that `audit` also reports of one: versions, size, network, channels, speed,
/// variables.
std::vector<Change> changes_of(const Audit& before, const Audit& after) {
  std::vector<Change> changes;
  const auto note = [&changes](std::string what, std::string a, std::string b) {
    if (a != b) changes.push_back({std::move(what), std::move(a), std::move(b)});
  };
  const JobFacts& a = before.facts;
  const JobFacts& b = after.facts;
  note("version", versions_text(a), versions_text(b));
  note("ranks", a.world() == nullptr ? "" : std::to_string(a.world()->nranks),
       b.world() == nullptr ? "" : std::to_string(b.world()->nranks));
  note("hosts", std::to_string(a.nodes()), std::to_string(b.nodes()));
  note("network", networks_text(a), networks_text(b));
  note("NICs", devices_text(a), devices_text(b));
  const auto channels = [](const JobFacts& facts) {
    return facts.world() == nullptr ? std::string() : std::to_string(facts.world()->ring_channels);
  };
  note("channels", channels(a), channels(b));
  note("connections", joined(transports_of(a)), joined(transports_of(b)));
  const auto busbw = [](const JobFacts& facts) {
    return best_busbw(facts) < 0 ? std::string() : fmt::format("{:.2f} GB/s", best_busbw(facts));
  };
  note("best busbw", busbw(a), busbw(b));

  std::map<std::string, std::pair<std::string, std::string>> variables;
  const auto add = [&variables](const JobFacts& facts, bool is_before) {
    for (const Setting& setting : facts.environment) {
      std::string& value =
          is_before ? variables[setting.name].first : variables[setting.name].second;
      value += (value.empty() ? "" : ", ") + setting.value;
    }
  };
  add(a, true);
  add(b, false);
  for (const auto& [name, values] : variables) note(name, values.first, values.second);
  return changes;
}

/// Returns the findings of one run that the other run does not have, of that severity.
std::vector<const Finding*> only_in(const Audit& one, const Audit& other) {
  std::vector<const Finding*> only;
  for (const Finding& finding : one.findings) {
    if (!other.has(finding.id, finding.severity)) only.push_back(&finding);
  }
  return only;
}

std::string name_of(const Audit& audit) {
  const std::vector<LogFile>& files = audit.files.files;
  if (files.empty()) return "?";
  const std::string others =
      files.size() > 1 ? fmt::format(" and {}", plural(files.size() - 1, "other", "others")) : "";
  return files.front().name + others;
}

}  // namespace

std::string diff_text(const Audit& before, const Audit& after, const TextStyle& style) {
  std::string out = fmt::format("before: {}\nafter:  {}\n\n", name_of(before), name_of(after));
  const auto list = [&](std::string_view title, const std::vector<const Finding*>& findings) {
    for (const Finding* finding : findings) {
      out += wrap(fmt::format("{}: {}", finding->id, finding->title),
                  fmt::format("{} {:<5} ", title, to_string(finding->severity)), "           ",
                  style.width);
      if (title == "new " && !finding->fix.empty())
        out += wrap(finding->fix, "          fix ", "              ", style.width);
    }
  };
  list("new ", only_in(after, before));
  list("gone", only_in(before, after));
  const std::vector<Change> changes = changes_of(before, after);
  if (!changes.empty()) out += "\nwhat differs:\n";
  for (const Change& change : changes) {
    out += wrap(fmt::format("{} -> {}", change.before.empty() ? "(none)" : change.before,
                            change.after.empty() ? "(none)" : change.after),
                fmt::format("  {:<12} ", change.what), std::string(15, ' '), style.width);
  }
  if (changes.empty() && only_in(after, before).empty() && only_in(before, after).empty())
    out += "nothing differs\n";
  return out;
}

Json diff_json(const Audit& before, const Audit& after) {
  const auto list = [](const std::vector<const Finding*>& findings) {
    Json json = Json::array();
    for (const Finding* finding : findings) {
      json.push_back({{"id", finding->id},
                      {"severity", to_string(finding->severity)},
                      {"title", finding->title},
                      {"fix", finding->fix}});
    }
    return json;
  };
  Json changes = Json::array();
  for (const Change& change : changes_of(before, after)) {
    changes.push_back({{"what", change.what}, {"before", change.before}, {"after", change.after}});
  }
  return {{"schema", "ringside.audit-diff/1"},
          {"new", list(only_in(after, before))},
          {"gone", list(only_in(before, after))},
          {"changes", std::move(changes)}};
}

}  // namespace ringside::audit

#include "cli/explain/upgrade_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "base/wording.h"

namespace ringside::cli {
namespace {

using study::Undo;
using study::Upgrade;
using study::UpgradeOfCollective;
using study::UpgradeStretch;

std::string choice_text(const TunedChoice& choice) {
  return fmt::format("{}/{} {}", to_string(choice.algorithm), to_string(choice.protocol),
                     choice.max_channels);
}

std::string range_text(const UpgradeStretch& stretch) {
  if (stretch.first == stretch.last) return format_bytes(stretch.first);
  return fmt::format("{} .. {}", format_bytes(stretch.first), format_bytes(stretch.last));
}

std::string percent(double ratio) {
  const double change = 100 * (ratio - 1);
  return std::abs(change) < 0.05 ? "0" : fmt::format("{:+.1f}", change);
}

/// "-12.3 .. +1.0 %"
std::string change_text(const UpgradeStretch& stretch) {
  const std::string least = percent(stretch.least_ratio), most = percent(stretch.most_ratio);
  return least == most ? least + " %" : fmt::format("{} .. {} %", least, most);
}

std::string set_text(const Undo& undo) { return fmt::format("{}", fmt::join(undo.set, " ")); }

std::string undo_text(const Undo& undo, const TunedChoice& old) {
  if (undo.set.empty()) return "nothing that was tried";
  if (undo.restores_channels) return set_text(undo);
  return fmt::format("{} (but for its {} channels)", set_text(undo), old.max_channels);
}

/// Returns the time of the old choice by the later release's own model.
std::string old_choice_text(const UpgradeStretch& stretch) {
  const double is = static_cast<double>(stretch.after.prediction.time_us);
  if (!stretch.old_choice_us) return "not there";
  if (is <= 0) return "";
  return percent(static_cast<double>(*stretch.old_choice_us) / is) + " %";
}

bool is_all_alike(const UpgradeOfCollective& one) {
  return one.stretches.size() == 1 && !one.stretches.front().is_other_choice &&
         std::abs(one.stretches.front().least_ratio - 1) < study::kSameTime &&
         std::abs(one.stretches.front().most_ratio - 1) < study::kSameTime;
}

std::string collective_text(const UpgradeOfCollective& one) {
  std::string out = fmt::format("{}\n", to_string(one.collective));
  if (is_all_alike(one)) return out + "  nothing changes\n";
  out += fmt::format("  {:<14}{:<22}{:<22}{:>17}{:>12}  {}\n", "size", "before", "after",
                     "predicted time", "old choice", "what brings the old choice back");
  for (const UpgradeStretch& stretch : one.stretches) {
    if (!stretch.is_other_choice) {
      out += fmt::format("  {:<14}{:<44}{:>17}\n", range_text(stretch), "as before",
                         change_text(stretch));
      continue;
    }
    out +=
        fmt::format("  {:<14}{:<22}{:<22}{:>17}{:>12}  {}\n", range_text(stretch),
                    choice_text(stretch.before), choice_text(stretch.after), change_text(stretch),
                    old_choice_text(stretch), undo_text(stretch.undo, stretch.before));
  }
  return out;
}

std::string laid_text(const Upgrade& upgrade) {
  if (upgrade.layout.empty()) return "graphs and channels are as before\n";
  std::string out;
  for (const study::LayoutDifference& one : upgrade.layout) {
    const bool is_list = !one.before.empty();
    out +=
        fmt::format("{:<31}{}{}\n", one.what,
                    is_list ? fmt::format("{} -> {}", one.before, one.after) : one.after,
                    one.undo.set.empty() ? "" : fmt::format("; {}: as before", set_text(one.undo)));
  }
  return out;
}

/// "tree/ll -> ring/ll (NCCL_ALGO=Tree)"; empty: neither algorithm nor protocol changes.
std::string way_text(const UpgradeStretch& stretch) {
  const auto way = [](const TunedChoice& choice) {
    return fmt::format("{}/{}", to_string(choice.algorithm), to_string(choice.protocol));
  };
  const std::string before = way(stretch.before), after = way(stretch.after);
  if (before == after) return {};
  return fmt::format("{} -> {}{}", before, after,
                     stretch.undo.set.empty() ? "" : " (" + set_text(stretch.undo) + ")");
}

/// Returns the same text in a cell of a table.
std::string changes_cell(const Upgrade& upgrade) {
  std::string text;
  for (const UpgradeOfCollective& one : upgrade.collectives) {
    std::string of_one;
    for (auto stretch = one.stretches.begin(); stretch != one.stretches.end();) {
      // Adjacent entries that differ in channels alone are merged.
      const std::string way = way_text(*stretch);
      UpgradeStretch joined = *stretch;
      while (++stretch != one.stretches.end() && way_text(*stretch) == way) {
        joined.last = stretch->last;
      }
      if (way.empty()) continue;
      of_one += fmt::format("{}{}: {}", of_one.empty() ? "" : "; ", range_text(joined), way);
    }
    if (!of_one.empty()) {
      text +=
          fmt::format("{}**{}** {}", text.empty() ? "" : "<br>", to_string(one.collective), of_one);
    }
  }
  std::string laid;
  for (const study::LayoutDifference& one : upgrade.layout) {
    if (!one.is_count) laid += (laid.empty() ? "" : ", ") + one.what;
  }
  if (!laid.empty()) text += fmt::format("{}laid otherwise: {}", text.empty() ? "" : "<br>", laid);
  return text.empty() ? "-" : text;
}

std::string counts_cell(const Upgrade& upgrade) {
  const auto arrow = [](int before, int after) {
    return before == after ? fmt::format("{}", before) : fmt::format("{} -> {}", before, after);
  };
  return fmt::format("{} / {} / {}", arrow(upgrade.before.nchannels, upgrade.after.nchannels),
                     arrow(upgrade.before.nvls_channels, upgrade.after.nvls_channels),
                     arrow(upgrade.before.p2p_channels, upgrade.after.p2p_channels));
}

bool changes_nothing(const Upgrade& upgrade) {
  return upgrade.changed_sizes == 0 && upgrade.layout.empty();
}

}  // namespace

std::string upgrade_text(const Upgrade& upgrade, const study::UpgradeQuestion& question) {
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  std::string out =
      fmt::format("NCCL {} -> {} on {}: {}, {}\n\n", upgrade.from, upgrade.to, question.job.on,
                  plural(count(upgrade.after.nranks), "rank", "ranks"),
                  plural(count(upgrade.after.nnodes), "node", "nodes"));
  out += laid_text(upgrade) + "\n";
  out += fmt::format("{} of {} are chosen otherwise\n", upgrade.changed_sizes,
                     plural(upgrade.sizes, "size", "sizes"));
  for (const UpgradeOfCollective& one : upgrade.collectives) out += "\n" + collective_text(one);
  out +=
      "\nA choice is algorithm/protocol and the channels that it may use. Times are what each "
      "release's own model\n"
      "predicts for its own choice: where choice and graphs stay, its model has changed, not the "
      "hardware.\n"
      "`old choice` is what the later release's model predicts for the earlier one's, next to its "
      "own, "
      "at the first size.\n"
      "What brings it back was tried: decided with it set, by the later release. It holds for all "
      "collectives.\n";
  return out;
}

std::string upgrades_page(std::span<const UpgradePart> parts) {
  std::string page =
      "# What upgrades of NCCL change on the presets\n\n"
      "Made by `ringside explain --upgrades`; do not edit. Of one cluster, with times and sizes:\n"
      "`ringside explain --upgrade 2.19 2.27 --on dgx-h100 --nodes 2`.\n\n"
      "One operation alone, floats, 8 B to 8 GiB by factors of 2, nothing set. A row shows which "
      "sizes of which\n"
      "collective are done in another way, and in brackets which variable brings the old way back "
      "under the later\n"
      "release: decided with it set; without brackets nothing that was tried does. The variable "
      "holds for all\n"
      "collectives. `channels` are those of rings and trees / of NVLS / of sends and receives; "
      "what "
      "else is laid\n"
      "otherwise is named, and `explain --upgrade` shows it. That another way is\n"
      "chosen does not mean that it is faster: it is what the later release's model considers "
      "faster.\n"
      "Blackwell is omitted where the earlier release does not know it.\n";
  for (const UpgradePart& part : parts) {
    page += fmt::format("\n## {} to {}\n\n", part.step.from, part.step.to);
    std::string same;
    std::string rows;
    for (const study::UpgradeRow& row : part.rows) {
      if (changes_nothing(row.upgrade)) {
        same += fmt::format("{}{} x {}", same.empty() ? "" : ", ", row.preset, row.nodes);
        continue;
      }
      rows += fmt::format("| {} | {} | {} | {} of {} | {} |\n", row.preset, row.nodes,
                          counts_cell(row.upgrade), row.upgrade.changed_sizes, row.upgrade.sizes,
                          changes_cell(row.upgrade));
    }
    if (!rows.empty()) {
      page +=
          "| preset | nodes | channels | chosen otherwise | done in another way |\n"
          "|---|---|---|---|---|\n" +
          rows;
    }
    if (!same.empty()) {
      page +=
          fmt::format("{}No choice and no graph changes on {}.\n", rows.empty() ? "" : "\n", same);
    }
  }
  return page;
}

}  // namespace ringside::cli

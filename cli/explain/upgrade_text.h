#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "study/explain/upgrade.h"

namespace ringside::cli {

/// For people, in at most 120 columns: changed graphs and channels, then collective by collective the sizes with
/// another choice and the variable that restores the old choice.
std::string upgrade_text(const study::Upgrade& upgrade, const study::UpgradeQuestion& question);

/// "ringside.upgrade/1": `laid`, `collectives`.
Json upgrade_document(const study::Upgrade& upgrade);

/// The rows of one step.
struct UpgradePart {
  study::UpgradeStep step;
  std::vector<study::UpgradeRow> rows;
};

/// Markdown: a section for each step.
std::string upgrades_page(std::span<const UpgradePart> parts);

}  // namespace ringside::cli

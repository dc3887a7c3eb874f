#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "study/explain/upgrade.h"

namespace ringside::cli {

/// Returns text for people, at most 120 columns wide: changed graphs and channels, then for each
/// collective the sizes with another choice and the variable that restores the old choice.
std::string upgrade_text(const study::Upgrade& upgrade, const study::UpgradeQuestion& question);

/// Returns a "ringside.upgrade/1" document: `laid`, `collectives`.
Json upgrade_document(const study::Upgrade& upgrade);

/// The rows of one step.
struct UpgradePart {
  study::UpgradeStep step;
  std::vector<study::UpgradeRow> rows;
};

/// Returns Markdown with a section for each step.
std::string upgrades_page(std::span<const UpgradePart> parts);

}  // namespace ringside::cli

#pragma once

#include <string>
#include <vector>

#include "study/explain/decisions.h"

namespace ringside::cli {

/// Returns docs/lab/decisions.md as Markdown: NCCL's choice for an all-reduce on each preset.
std::string decisions_page(const std::vector<study::DecisionRow>& rows);

}  // namespace ringside::cli

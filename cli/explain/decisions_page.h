#pragma once

#include <string>
#include <vector>

#include "study/explain/decisions.h"

namespace ringside::cli {

/// docs/lab/decisions.md: what NCCL does with an all-reduce on each preset, as Markdown.
std::string decisions_page(const std::vector<study::DecisionRow>& rows);

}  // namespace ringside::cli

#pragma once

#include <vector>

#include "diag/audit/finding.h"

namespace ringside::audit {

/// Puts findings that follow from another one under it, and the rest in order: worst first, causes of
/// failures before losses of speed.
///
/// returns  first causes, each directly before what follows from it; caused_by set
/// source   docs/formats 9.10
std::vector<Finding> order_by_cause(std::vector<Finding> findings);

}  // namespace ringside::audit

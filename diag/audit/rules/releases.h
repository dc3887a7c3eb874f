#pragma once

#include <string>

#include "diag/audit/facts.h"

namespace ringside::audit {

/// A fault that a release in use is known for (releases.def).
struct KnownFault {
  std::string title;  ///< `a known fault of NCCL 2.25.1, fixed in 2.26.2`; empty: none is known
  std::string fix;    ///< a clause or two; may be empty
};

/// Whether lines of that reason are a known fault of a release that the text names.
KnownFault known_fault(const JobFacts& facts, PlainLine line);

}  // namespace ringside::audit

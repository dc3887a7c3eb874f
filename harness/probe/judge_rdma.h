#pragma once

#include "harness/probe/machine.h"
#include "harness/probe/verdicts.h"

namespace ringside::probe {

/// Checks RDMA ports, their GIDs, the variables about them, and the device nodes.
void judge_rdma(const Machine& machine, Verdicts& verdicts);

}  // namespace ringside::probe

#pragma once

#include "harness/probe/machine.h"
#include "harness/probe/verdicts.h"

namespace ringside::probe {

/// RDMA ports, their GIDs, what the variables make of them, and the device nodes.
void judge_rdma(const Machine& machine, Verdicts& verdicts);

}  // namespace ringside::probe

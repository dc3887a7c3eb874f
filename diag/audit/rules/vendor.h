#pragma once

#include "diag/audit/finding.h"

namespace ringside::audit {

struct JobFacts;

/// RCCL or ROCm is at work.
bool is_of_amd(const JobFacts& facts);

/// Rules write their advice for the tools of NVIDIA's; on AMD's GPUs others answer the same question.
void say_for_vendor(const JobFacts& facts, Finding& finding);

}  // namespace ringside::audit

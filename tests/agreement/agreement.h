#pragma once

#include <array>
#include <string>

#include "tests/support/answer.h"

namespace ringside::oracle {

/// Our whole answer to a golden file's question, from the topology XML to the choices, compared with NCCL's, by part. Throws
/// where there is no answer.
std::array<Comparison, kParts.size()> compare_all(const std::string& name);

}  // namespace ringside::oracle

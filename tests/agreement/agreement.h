#pragma once

#include <array>
#include <string>

#include "tests/support/answer.h"

namespace ringside::oracle {

/// Computes our whole answer to the question of a golden file, from the topology XML to the choices, and compares each
/// part with NCCL's answer. Throws where there is no answer.
std::array<Comparison, kParts.size()> compare_all(const std::string& name);

}  // namespace ringside::oracle

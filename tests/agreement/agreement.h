#pragma once

#include <array>
#include <string>

#include "tests/support/golden_compare.h"

namespace ringside::oracle {

struct Part {
  const char* name = "";
  Comparison comparison = {};
};
inline constexpr int kParts = 7;

/// Our whole answer to a golden file's question, from the topology XML to the choices, part by part:
/// what is there, found, merged, counted, joined, costs, chosen. Throws where there is no answer.
std::array<Part, kParts> compare_all(const std::string& name);

}  // namespace ringside::oracle

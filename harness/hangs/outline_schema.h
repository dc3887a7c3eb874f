#pragma once

#include <span>
#include <string_view>
#include <vector>

/// What a program's document may hold. Readers take no other words, and docs/reference/scenarios.md is written from these.
namespace ringside::hangs {

struct SchemaKey {
  std::string_view key;
  std::string_view form;  ///< an example of its value
  std::string_view what;
};

/// A kind of step.
struct SchemaStep {
  std::string_view word;
  std::string_view form;               ///< `kernel: 2ms`
  std::vector<std::string_view> keys;  ///< of its mapping; empty: it has none
  std::string_view what;
};
std::span<const SchemaStep> step_schema();

/// What the keys of steps say.
std::span<const SchemaKey> step_keys();

}  // namespace ringside::hangs

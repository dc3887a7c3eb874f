#pragma once

#include <span>
#include <string_view>
#include <vector>

/// The keys and steps that a program document may contain. Parsers accept no others, and
/// docs/reference/scenarios.md is generated from these tables.
namespace ringside::hangs {

/// A key of a document, with its description in the reference.
struct SchemaKey {
  std::string_view key;
  std::string_view form;  ///< an example of its value
  std::string_view what;
};

/// A kind of step in a document.
struct SchemaStep {
  std::string_view word;
  std::string_view form;               ///< `kernel: 2ms`
  std::vector<std::string_view> keys;  ///< keys of its mapping; empty: no mapping
  std::string_view what;
};
std::span<const SchemaStep> step_schema();

/// Returns the descriptions of the keys of steps.
std::span<const SchemaKey> step_keys();

}  // namespace ringside::hangs

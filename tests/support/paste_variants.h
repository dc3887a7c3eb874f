#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::pastes {

/// A way in which a text changes between a program and a thread about it.
struct Variant {
  std::string_view name;
  std::string (*change)(const std::string& text);
  std::string_view extension = {};  ///< the file's extension in this form; empty: it keeps its own
  /// Whether hosts and addresses are replaced, so that no expectation about them can be met.
  bool hides_names = false;
  /// Whether it adds words about a job, so that the text of another program no longer counts as one.
  bool speaks_of_a_job = false;
};

/// Returns all variants: the first leaves everything unchanged.
const std::vector<Variant>& variants();

/// Wraps as a terminal does: at the column, within words; a character counts once, however many bytes it has.
std::string wrapped_at(std::string_view text, std::size_t columns);

}  // namespace ringside::pastes

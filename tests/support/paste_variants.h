#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::pastes {

/// A way in which text changes between a program and a thread about it.
struct Variant {
  std::string_view name;
  std::string (*change)(const std::string& text);
  std::string_view extension = {};  ///< the file's in place of its own; empty: its own stays
  bool hides_names = false;         ///< hosts and addresses: who asks for them asks in vain
  /// Adds words of a job's, so that another program's text is one no more
  bool speaks_of_a_job = false;
};

/// All of them: the first leaves everything as it is.
const std::vector<Variant>& variants();

/// Wraps as a terminal does: at the column, within words; a character counts once, however many bytes it has.
std::string wrapped_at(std::string_view text, std::size_t columns);

}  // namespace ringside::pastes

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "diag/logparse/known_lines.h"

namespace ringside::logs {

/// The prefixes and texts with which lines are compared.
struct LinesToMatch {
  const HashSlots& prefix_slots;
  const HashSlots& text_slots;
  std::span<const KnownPrefix> prefixes;
  std::span<const KnownText> texts;
};

/// Implements KnownLines::match().
void match_lines(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                 const LinesToMatch& known, LineMatch* matches);

/// For tests: calls run() once for each instruction set of this machine for which match_lines() has a version.
/// Threads  no other thread may parse at the same time
void with_each_instruction_set(const std::function<void(const char* name)>& run);

}  // namespace ringside::logs

#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "diag/logparse/known_lines.h"

namespace ringside::logs {

/// What lines are compared with.
struct LinesToMatch {
  const HashSlots& prefix_slots;
  const HashSlots& text_slots;
  std::span<const KnownPrefix> prefixes;
  std::span<const KnownText> texts;
};

/// As KnownLines::match().
void match_lines(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                 const LinesToMatch& known, LineMatch* matches);

/// For tests: runs a function with each version of match_lines() on this machine, one for an instruction set.
/// threads  no other thread parses meanwhile
void with_each_instruction_set(const std::function<void(const char* name)>& run);

}  // namespace ringside::logs

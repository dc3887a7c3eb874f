#include <array>
#include <charconv>

#include "diag/logparse/message.h"

namespace ringside::logs {
namespace {

struct Fact {
  char weight;
  std::string_view name, meaning;
};

constexpr Fact kFacts[] = {
#define RINGSIDE_MESSAGE(id, weight, meaning) {weight, #id, meaning},
#include "diag/logparse/catalogue/all.def"
#undef RINGSIDE_MESSAGE
};

constexpr MessagePattern kPatterns[] = {
#define RINGSIDE_PATTERN(id, pattern, sample) {MessageId::id, pattern, sample},
#include "diag/logparse/catalogue/all.def"
};

}  // namespace

MessageFacts facts_of(MessageId id) {
  const Fact& fact = kFacts[static_cast<std::size_t>(id)];
  return {fact.name, fact.weight, fact.meaning};
}

std::span<const MessagePattern> message_patterns() { return kPatterns; }

}  // namespace ringside::logs

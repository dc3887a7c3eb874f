#include "engine/debuglog/subsystem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/suggest.h"
#include "engine/debuglog/words.h"

namespace ringside {
namespace {

/// Indexed by the bit of the enumerator.
constexpr std::array<std::string_view, 17> kSubsystemNames{
    "INIT", "COLL",  "P2P",  "SHM",       "NET", "GRAPH",   "TUNING", "ENV",    "ALLOC",
    "CALL", "PROXY", "NVLS", "BOOTSTRAP", "REG", "PROFILE", "RAS",    "DESTROY"};

constexpr Subsystems all_of_them() {
  Subsystems all;
  for (std::size_t bit = 0; bit < kSubsystemNames.size(); ++bit) {
    all = all | Subsystems{static_cast<Subsystem>(1U << bit)};
  }
  return all;
}

/// Returns the word as a set; empty if the word is unknown.
Subsystems subsystems_of(const std::string& word) {
  if (word == "ALL") return all_of_them();
  const auto known = std::ranges::find(kSubsystemNames, word);
  if (known == kSubsystemNames.end()) return {};
  return static_cast<Subsystem>(1U << (known - kSubsystemNames.begin()));
}

}  // namespace

Subsystems default_subsystems(NcclVersion version) {
  if (version.is_from(23)) return Subsystem::Init | Subsystem::Bootstrap | Subsystem::Env;
  if (version.is_from(16)) return Subsystem::Init | Subsystem::Env;
  return Subsystem::Init;
}

Subsystems known_subsystems(std::string_view text) {
  const DebugWords words(text);
  Subsystems named;
  for (const std::string& word : words.list) named = named | subsystems_of(word);
  return words.is_inverse ? all_of_them() - named : named;
}

Result<Subsystems> parse_subsystems(std::string_view text) {
  for (const std::string& word : DebugWords(text).list) {
    if (subsystems_of(word) != Subsystems{}) continue;
    return Error{ErrorCode::InvalidArgument, fmt::format("unknown subsystem '{}'", word),
                 suggestion(word, kSubsystemNames)};
  }
  return known_subsystems(text);
}

}  // namespace ringside

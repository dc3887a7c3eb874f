#include "engine/debuglog/subsystem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "base/suggest.h"

namespace ringside {
namespace {

/// In the order of the enumerators' bits.
constexpr std::array<std::string_view, 17> kNames{
    "INIT", "COLL",  "P2P",  "SHM",       "NET", "GRAPH",   "TUNING", "ENV",    "ALLOC",
    "CALL", "PROXY", "NVLS", "BOOTSTRAP", "REG", "PROFILE", "RAS",    "DESTROY"};

constexpr Subsystems all_of_them() {
  Subsystems all;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit) {
    all = all | Subsystems{static_cast<Subsystem>(1U << bit)};
  }
  return all;
}

std::string upper_case(std::string_view text) {
  std::string upper{text};
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

}  // namespace

Subsystems default_subsystems(NcclVersion version) {
  if (version.is_from(23)) return Subsystem::Init | Subsystem::Bootstrap | Subsystem::Env;
  if (version.is_from(16)) return Subsystem::Init | Subsystem::Env;
  return Subsystem::Init;
}

Result<Subsystems> parse_subsystems(std::string_view text) {
  const bool is_inverse = text.starts_with('^');
  if (is_inverse) text.remove_prefix(1);
  Subsystems named;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string word = upper_case(text.substr(0, comma));
    const auto known = std::ranges::find(kNames, word);
    if (word == "ALL") {
      named = all_of_them();
    } else if (known != kNames.end()) {
      named = named | Subsystems{static_cast<Subsystem>(1U << (known - kNames.begin()))};
    } else {
      return Error{ErrorCode::InvalidArgument, fmt::format("unknown subsystem '{}'", word),
                   suggestion(word, kNames)};
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return is_inverse ? all_of_them() - named : named;
}

}  // namespace ringside

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "diag/facts/facts.h"

/// The names that the catalogue, tests and reports use for types of facts and their fields.
namespace ringside::facts {

using AnyFact = std::variant<Member, Call, Blocked, Busy, Mismatch, Died, Progress, LinkFault,
                             Transport, Setting, Capability, Measurement, Warning>;

/// Makes a fact with unknown fields; `died` makes a Died.  returns  false: there is no such type
bool make_fact(std::string_view type, AnyFact& fact);

enum class SetResult : std::uint8_t { Set, UnknownField, BadValue };

/// Sets a field from text, as a line prints it: `rank` from `3`, `cause` from `signal`.
///
/// Some names set several fields: `exit` of a death takes a status (`-9`, `137`, `1`), `how` the words of a launcher
/// (`Segmentation fault`, `Exited with exit code 3`), `signal` a number or name; `work` of a call takes PyTorch's
/// `WorkNCCL(SeqNum=..)`; `error` of a link the text of an errno, `wc` its completion status; `time` any time with its
/// date.
/// An empty value leaves the field as it is.
SetResult set_field(AnyFact& fact, std::string_view field, std::string_view value);

/// `died rank=3 cause=signal code=9`: the type, then each field that is known, in a fixed order, without the source.
std::string to_text(const AnyFact& fact);

/// The list of facts of a type.
template <typename T>
std::vector<T>& list_of(Facts& facts) {
  if constexpr (std::is_same_v<T, Member>) return facts.members;
  if constexpr (std::is_same_v<T, Call>) return facts.calls;
  if constexpr (std::is_same_v<T, Blocked>) return facts.blocked;
  if constexpr (std::is_same_v<T, Busy>) return facts.busy;
  if constexpr (std::is_same_v<T, Mismatch>) return facts.mismatches;
  if constexpr (std::is_same_v<T, Died>) return facts.deaths;
  if constexpr (std::is_same_v<T, Progress>) return facts.progress;
  if constexpr (std::is_same_v<T, LinkFault>) return facts.link_faults;
  if constexpr (std::is_same_v<T, Transport>) return facts.transports;
  if constexpr (std::is_same_v<T, Setting>) return facts.settings;
  if constexpr (std::is_same_v<T, Capability>) return facts.capabilities;
  if constexpr (std::is_same_v<T, Measurement>) return facts.measurements;
  if constexpr (std::is_same_v<T, Warning>) return facts.warnings;
}

/// Appends the fact to the list of its type.
void add_fact(Facts& facts, AnyFact fact);

/// The fields that all types share.
Fact& base_of(AnyFact& fact);

std::string_view to_string(Activity activity);
std::string_view to_string(DeathCause cause);
std::string_view to_string(LinkState state);
std::string_view to_string(CallState state);
std::string_view to_string(Domain domain);
std::string_view to_string(Severity severity);
std::string_view to_string(Field field);

}  // namespace ringside::facts

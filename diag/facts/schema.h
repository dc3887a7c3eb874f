#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "diag/facts/facts.h"

/// Reads and writes facts by the names of their types and fields, as the catalogue, tests and reports use them.
namespace ringside::facts {

using AnyFact = std::variant<Member, Call, Blocked, Busy, Mismatch, Died, Progress, LinkFault,
                             Transport, Setting, Capability, Measurement, Warning>;

/// Returns an empty fact of a named type, `died` for a Died; nothing if the type does not exist.
std::optional<AnyFact> make_fact(std::string_view type);

/// The result of setting a field by its name.
enum class SetResult : std::uint8_t { Set, UnknownField, BadValue };

/// Sets a field from its text: `rank` from `3`, `cause` from `signal`. An empty value changes nothing, whatever the name,
/// and counts as Set.
///
/// Some names set several fields:
/// - of a death: `exit` takes a status (`-9`, `137`, `1`), `how` a launcher's words (`Segmentation fault`), `signal` a
///   number or name;
/// - of a call: `work` takes PyTorch's `WorkNCCL(SeqNum=..)`, `op` any spelling of an operation, `waited_ms` a time;
/// - of a link fault: `error` takes the text of an errno, `wc` a completion status;
/// - of any fact: `time` takes a time with its date.
SetResult set_field(AnyFact& fact, std::string_view field, std::string_view value);

/// Returns the fact as text, `died rank=3 cause=signal code=9`: its type and its known fields in a fixed order, without
/// the source.
std::string to_text(const AnyFact& fact);

/// Returns the list of `facts` that holds type T.
template <typename T>
std::vector<T>& list_of(Facts& facts) {
  static_assert(std::is_constructible_v<AnyFact, T>, "T is not a type of fact");
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

/// Appends a fact to the list of its type.
void add_fact(Facts& facts, AnyFact fact);

/// Returns the fields that all types share.
Fact& base_of(AnyFact& fact);

/// Returns the catalogue's name of an enumerator.
std::string_view to_string(Activity activity);
std::string_view to_string(DeathCause cause);
std::string_view to_string(LinkState state);
std::string_view to_string(CallState state);
std::string_view to_string(Domain domain);
std::string_view to_string(Severity severity);
std::string_view to_string(Field field);

}  // namespace ringside::facts

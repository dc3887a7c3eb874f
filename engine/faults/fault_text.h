#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/faults/fault.h"

namespace YAML {
class Emitter;
}

namespace ringside {

class YamlMapping;

/// A fault's keys and values in text form.
using FaultKeys = std::map<std::string, std::string, std::less<>>;

/// Makes a fault from its keys; others keep their defaults.
/// errors  InvalidArgument: an unknown key for such a fault (the nearest is named), or an invalid value
Result<Fault> make_fault(FaultKind kind, const FaultKeys& keys);

/// Parses `kind`, or `kind:key=value,key=value`.
/// errors  InvalidArgument: as make_fault(); names what cannot be read
Result<Fault> parse_fault(std::string_view text);

/// Returns the keys whose values differ from their defaults, in writing order.
std::vector<std::pair<std::string_view, std::string>> keys_of(const Fault& fault);

/// Returns the text that parse_fault() reads.
std::string to_string(const Fault& fault);

/// Parses a plan in YAML (README.md).
/// where   the file's name, for messages
/// errors  Corrupt: `where:line: what`, with the fix
Result<FaultPlan> parse_fault_plan(const std::string& text, const std::string& where);
std::string to_yaml(const FaultPlan& plan);
/// Writes the keys `seed` and `faults` into a mapping that is open.
void write_faults(YAML::Emitter& out, const FaultPlan& plan);

/// Reads the keys `faults` and `seed` (if present) of a document that also contains other keys.
/// errors  as parse_fault_plan()
Result<std::vector<Fault>> read_faults(const YamlMapping& root);
Result<std::uint64_t> read_fault_seed(const YamlMapping& root);

}  // namespace ringside

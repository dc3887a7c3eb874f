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

/// A fault's keys and their values, as they are written.
using FaultKeys = std::map<std::string, std::string, std::less<>>;

/// errors  InvalidArgument: an unknown key for such a fault (the nearest is named), or an invalid value
Result<Fault> make_fault(FaultKind kind, const FaultKeys& keys);

/// One fault as a line: `kind`, or `kind:key=value,key=value`.
/// errors  InvalidArgument: as make_fault(); names what cannot be read
Result<Fault> parse_fault(std::string_view text);

/// The keys whose values differ from their defaults, in the order in which they are written.
std::vector<std::pair<std::string_view, std::string>> keys_of(const Fault& fault);

/// What parse_fault() reads back.
std::string to_string(const Fault& fault);

/// A plan as YAML (README.md).
/// where   for messages: the file
/// errors  Corrupt: `where:line: what`, with the fix
Result<FaultPlan> parse_fault_plan(const std::string& text, const std::string& where);
std::string to_yaml(const FaultPlan& plan);
/// Writes the keys `seed` and `faults` into a mapping that is open.
void write_faults(YAML::Emitter& out, const FaultPlan& plan);

/// The key `faults` of a document that holds them among other things, and `seed`, if it is there.
/// errors  as parse_fault_plan()
Result<std::vector<Fault>> read_faults(const YamlMapping& root);
Result<std::uint64_t> read_fault_seed(const YamlMapping& root);

}  // namespace ringside

#include "harness/probe/engine_inputs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace ringside::probe {

std::string variable(const Machine& machine, const char* name) {
  const auto found = machine.variables.find(name);
  return found == machine.variables.end() ? std::string() : found->second;
}

Environment environment_of(const Machine& machine) {
  return [&machine](const char* name) -> std::optional<std::string> {
    std::string text = variable(machine, name);
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  };
}

bool has_active_port(const Machine& machine) {
  return std::ranges::any_of(machine.rdma, &RdmaPort::is_active);
}

std::vector<ringside::RdmaPort> ports_of(const Machine& machine) {
  return {machine.rdma.begin(), machine.rdma.end()};
}

std::vector<Gid> own_gids(const Machine& machine) {
  std::vector<Gid> own;
  for (const Interface& one : machine.interfaces) own.push_back(gid_of(one.address));
  return own;
}

}  // namespace ringside::probe

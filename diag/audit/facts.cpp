#include "diag/audit/facts.h"

#include <algorithm>

namespace ringside::audit {

int CommFacts::nodes() const {
  const auto seen = static_cast<int>(hosts.size());
  if (nnodes <= 0) return seen;
  // NCCL counts a host as several nodes where its GPUs reach the NICs sooner than each other.
  const bool are_all_seen = std::all_of(members.begin(), members.end(),
                                        [](const Member& member) { return member.host >= 0; }) &&
                            static_cast<std::int32_t>(members.size()) == nranks;
  return are_all_seen && seen > 0 ? std::min(seen, nnodes) : nnodes;
}

const Member* CommFacts::member(std::int32_t rank) const {
  const auto found =
      std::lower_bound(members.begin(), members.end(), rank,
                       [](const Member& one, std::int32_t r) { return one.rank < r; });
  return found != members.end() && found->rank == rank ? &*found : nullptr;
}

int JobFacts::nodes() const {
  int most = 0;
  for (const CommFacts& comm : comms) most = std::max(most, comm.nodes());
  if (most > 0) return most;
  for (const BenchmarkTable& table : tables) {
    std::set<std::string> names;
    for (const BenchmarkDevice& device : table.devices) names.insert(device.host);
    most = std::max(most, static_cast<int>(names.size()));
  }
  return std::max(most, static_cast<int>(hosts.size()));
}

bool JobFacts::has_setting(std::string_view name, std::string_view value) const {
  return std::any_of(environment.begin(), environment.end(),
                     [&](const Setting& one) { return one.name == name && one.value == value; });
}

const Setting* JobFacts::setting(std::string_view name) const {
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const Setting& one) { return one.name == name; });
  return found == environment.end() ? nullptr : &*found;
}

bool JobFacts::has_text_of_gpu(std::string_view words) const {
  return std::any_of(tables.begin(), tables.end(), [&](const BenchmarkTable& table) {
    return std::any_of(
        table.devices.begin(), table.devices.end(),
        [&](const BenchmarkDevice& device) { return device.gpu.find(words) != std::string::npos; });
  });
}

}  // namespace ringside::audit

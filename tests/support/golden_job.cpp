#include "tests/support/golden_job.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/topology/sources/nccl_xml.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {

Case read_case(const Json& golden, std::string_view release) {
  const Environment nothing = [](const char*) -> std::optional<std::string> { return {}; };
  const auto topology = parse_topology_parameters(nothing, release);
  const auto channels = parse_channel_parameters(nothing, release);
  if (!topology) throw std::runtime_error(topology.error().message);
  if (!channels) throw std::runtime_error(channels.error().message);
  Case result{.hosts = {}, .topology = *topology, .channels = *channels};
  std::string previous;
  for (const Json& run : golden["hosts"]) {
    const auto xml = run["xml"].get<std::string>();
    const int count = run["count"].get<int>();
    // There, a domain is a run of its own; here, it is so many hosts of one run.
    if (run["nvlDomain"].get<int>() != 0) result.hosts.hosts_per_nvl_domain = count;
    if (xml == previous) {
      result.hosts.runs.back().count += count;
      continue;
    }
    Result<Host> host = load_nccl_xml(topology_path(xml));
    if (!host) throw std::runtime_error(host.error().message);
    result.hosts.runs.push_back({.host = *std::move(host), .count = count});
    previous = xml;
  }
  result.channels.collnet_enable = golden["collnetEnabled"].get<int>() != 0;
  return result;
}

Job solve(const Json& golden, std::string_view release) {
  const Case asked = read_case(golden, release);
  Result<Job> job = make_job(asked.hosts, asked.topology, asked.channels);
  if (!job) throw std::runtime_error(job.error().message);
  return *std::move(job);
}

}  // namespace ringside::oracle

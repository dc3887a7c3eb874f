#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engine/topology/sources/host_yaml.h"
#include "engine/topology/sources/nccl_xml.h"

/// Feeds a host in our own YAML from a stranger: it is refused with the place of the error and the fix, or printed as
/// XML that conforms to NCCL's grammar.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const auto described = parse_host_yaml(std::string(data, data + size), "host.yaml");
  if (!described) {
    RINGSIDE_ASSERT(described.error().message.starts_with("host.yaml"),
                    "an error without its place: {}", described.error().message);
    RINGSIDE_ASSERT(!described.error().help.empty(), "no fix: {}", described.error().message);
    return 0;
  }
  RINGSIDE_ASSERT(described->hosts_per_domain >= 1, "{} hosts", described->hosts_per_domain);
  const auto read = parse_nccl_xml(to_nccl_xml(described->host), "printed.xml");
  RINGSIDE_ASSERT(read.has_value() || gpus_of(described->host).empty(), "refused: {}",
                  read.error().message);
  return 0;
}

#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engine/topology/paths/system.h"
#include "engine/topology/sources/nccl_xml.h"

/// Feeds a topology from a stranger: it is refused with the line of the error, or read as a host that is printed as
/// XML, reads back the same, and forms systems (or returns the reason why not) alone and as half of an NVLink domain.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const std::string text(data, data + size);
  const auto host = parse_nccl_xml(text, "host.xml");
  if (!host) {
    RINGSIDE_ASSERT(host.error().message.starts_with("host.xml:"), "an error without its place: {}",
                    host.error().message);
    RINGSIDE_ASSERT(!host.error().help.empty(), "no fix: {}", host.error().message);
    return 0;
  }
  const std::string printed = to_nccl_xml(*host);
  const auto again = parse_nccl_xml(printed, "printed.xml");
  RINGSIDE_ASSERT(again.has_value(), "our own XML is refused: {}", again.error().message);
  RINGSIDE_ASSERT(to_nccl_xml(*again) == printed, "it reads back as another host: {}", printed);

  const std::vector<const Host*> hosts(2, &*host);
  for (const std::size_t count : {1U, 2U}) {
    const auto systems = make_systems({.hosts = {hosts.data(), count}, .nranks = 1000}, {});
    if (!systems) continue;
    std::size_t gpus = 0;
    for (const System& system : *systems) gpus += system.gpus.size();
    RINGSIDE_ASSERT(gpus == count * gpus_of(*host).size(), "{} GPUs", gpus);
  }
  return 0;
}

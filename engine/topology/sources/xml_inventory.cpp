#include "engine/topology/sources/xml_inventory.h"

#include <fmt/format.h>

#include <utility>

#include "engine/topology/bus_id.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside {
namespace {

int limit_of(std::string_view element) {
  if (element == "cpu") return kMaxCpusPerHost;
  if (element == "pci") return kMaxPciPerHost;
  if (element == "gpu") return kMaxGpusPerHost;
  return kMaxNetsPerHost;
}

}  // namespace

Status XmlInventory::count(const XmlElement& element) {
  const int limit = limit_of(element.name());
  if (++counts_[std::string(element.name())] <= limit) return {};
  return element.bad(fmt::format("more than {} <{}> elements", limit, element.name()),
                     "describe one host a file, with its GPUs and NICs alone");
}

Status XmlInventory::take_bus_id(const XmlElement& pci, const std::string& bus_id) {
  const auto id = parse_bus_id(bus_id);
  if (!id) return pci.bad(id.error().message, id.error().help);
  const auto [first, is_new] = bus_ids_.emplace(*id, pci.line());
  if (is_new) return {};
  return pci.bad(
      fmt::format("PCI address {} appears twice, first on line {}", bus_id, first->second),
      "list a device once, below the bridge that it is behind");
}

Status XmlInventory::take_numa(const XmlElement& cpu, int numa) {
  if (numas_.insert(numa).second) return {};
  return cpu.bad(fmt::format("NUMA node {} appears twice", numa),
                 "give each <cpu> a numaid of its own");
}

Status XmlInventory::take_rank(const XmlElement& gpu, int rank) {
  if (ranks_.insert(rank).second) return {};
  return gpu.bad(fmt::format("rank {} appears twice", rank), "give each GPU its own");
}

Status XmlInventory::take_net(const XmlElement& net, int dev) {
  if (nets_.insert(dev).second) return {};
  return net.bad(fmt::format("network device {} appears twice", dev),
                 "give each <net> a dev of its own");
}

Status XmlInventory::take_host_hash(const XmlElement& cpu) {
  const std::string hash = cpu.text_or_empty("host_hash");
  if (host_hash_.empty()) host_hash_ = hash;
  if (hash.empty() || hash == host_hash_) return {};
  return cpu.bad("a second host in one file",
                 "keep the <cpu> elements of one host_hash; --nvl-domain joins several hosts");
}

void XmlInventory::take_nvlink(const XmlElement& nvlink, BusId from, BusId to) {
  nvlinks_.push_back({nvlink, from, to});
}

Status XmlInventory::check_nvlinks() const {
  std::set<std::pair<BusId, BusId>> listed;
  for (const NvLink& link : nvlinks_) listed.emplace(link.from, link.to);
  for (const NvLink& link : nvlinks_) {
    if (bus_ids_.count(link.to) == 0 || listed.count({link.to, link.from}) != 0) continue;
    return link.element.bad("an NVLink that the device at its other end does not list",
                            "list the link on both GPUs");
  }
  return {};
}

}  // namespace ringside

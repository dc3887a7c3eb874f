#include "harness/logs/host_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/topology/host_edit.h"

namespace ringside {
namespace {

constexpr std::uint32_t kEthernetClass = 0x020000;
/// Mbit/s. An EFA device with a multiple of this rate is counted as several NICs.
constexpr int kEfaRail = 100'000;

NetworkKind kind_of(const HostNet& net) {
  for (const std::string_view start : {"rdmap", "efa", "cxi"}) {
    if (net.name.starts_with(start)) return NetworkKind::Ofi;
  }
  return net.port == 0 && net.guid == 0 ? NetworkKind::Socket : NetworkKind::Ib;
}

OfiFacts ofi_of(const std::vector<Hca>& devices) {
  OfiFacts facts;
  const bool is_slingshot = devices.front().name.starts_with("cxi");
  facts.provider = is_slingshot ? "cxi" : "efa";
  for (const Hca& device : devices) {
    facts.nics += is_slingshot ? 1 : std::max(1, device.mbits_per_second / kEfaRail);
  }
  return facts;
}

std::string pci_path(const HostPci* function) {
  if (function == nullptr) return {};
  std::string bus = function->bus_id.substr(0, function->bus_id.rfind(':'));
  return fmt::format("/sys/devices/pci{0}/{0}:01.0/{1}", bus, function->bus_id);
}

}  // namespace

HostNetwork network_of(Host host, NcclVersion version) {
  HostNetwork network;
  const std::vector<HostNetPlace> places = nets_of(host);
  const auto fastest = std::ranges::max_element(
      places, {}, [](const HostNetPlace& place) { return static_cast<int>(kind_of(*place.net)); });
  network.kind = places.empty() ? NetworkKind::Socket : kind_of(*fastest->net);
  for (const HostNetPlace& place : places) {
    const HostNet& net = *place.net;
    if (kind_of(net) != network.kind) continue;
    network.devices.push_back(
        {.name = net.name,
         .index = net.dev,
         .port = net.port,
         .is_ethernet = place.function != nullptr && place.function->device_class == kEthernetClass,
         .mbits_per_second = net.mbits_per_second,
         .pci_path = pci_path(place.function)});
    network.has_gdr = network.has_gdr || net.gdr;
  }
  if (network.kind == NetworkKind::Ib) network.name = "IB";
  if (network.kind == NetworkKind::Ofi) {
    network.ofi = ofi_of(network.devices);
    network.name = version.is_before(24) ? "AWS Libfabric" : "Libfabric";
  }
  return network;
}

}  // namespace ringside

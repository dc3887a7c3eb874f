#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/topology/paths/system.h"
#include "engine/topology/sources/nccl_xml.h"

/// Hosts with a few devices, put together from pieces of XML.
namespace ringside::small_hosts {

inline std::string system(const std::string& inside) {
  return "<system version=\"1\">\n" + inside + "</system>\n";
}

inline std::string cpu(int numa, const std::string& inside, const std::string& kind = "intel") {
  const std::string attributes =
      kind == "arm"   ? "arch=\"arm64\""
      : kind == "amd" ? "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"23\" modelid=\"49\""
                      : "arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"106\"";
  return "<cpu numaid=\"" + std::to_string(numa) + "\" " + attributes + ">\n" + inside + "</cpu>\n";
}

/// Returns a PCI function of generation 4 with 16 lanes: 24 GB/s.
inline std::string pci(const std::string& bus, const std::string& device_class,
                       const std::string& inside, const std::string& more = {}) {
  return "<pci busid=\"0000:" + bus + "\" class=\"" + device_class +
         "\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\" " + more + ">\n" + inside + "</pci>\n";
}
inline std::string bridge(const std::string& bus, const std::string& inside,
                          const std::string& more = {}) {
  return pci(bus, "0x060400", inside, more);
}

struct GpuText {
  std::string bus;
  int dev = 0;
  int sm = 80;
  int gdr = 1;
  std::string inside = {};
};
inline std::string gpu(const GpuText& text) {
  const std::string dev = std::to_string(text.dev);
  return pci(text.bus, "0x030200",
             "<gpu dev=\"" + dev + "\" sm=\"" + std::to_string(text.sm) + "\" rank=\"" + dev +
                 "\" gdr=\"" + std::to_string(text.gdr) + "\">" + text.inside + "</gpu>\n");
}

inline std::string nvlink(const std::string& target, int count) {
  return "<nvlink target=\"0000:" + target + "\" count=\"" + std::to_string(count) +
         "\" tclass=\"0x030200\"/>";
}
inline std::string nvswitch(int count) {
  return "<nvlink target=\"fffffff:ff:ff.0\" count=\"" + std::to_string(count) +
         "\" tclass=\"0x068000\"/>";
}

inline std::string net(int dev, int mbits, int gdr = 1) {
  return "<nic><net name=\"mlx5_" + std::to_string(dev) + "\" dev=\"" + std::to_string(dev) +
         "\" speed=\"" + std::to_string(mbits) + "\" gdr=\"" + std::to_string(gdr) + "\"/></nic>\n";
}
inline std::string nic(const std::string& bus, int dev, int mbits = 100000, int gdr = 1,
                       const std::string& more = {}) {
  return pci(bus, "0x020700", net(dev, mbits, gdr), more);
}

inline Host parsed(const std::string& xml) {
  auto host = parse_nccl_xml(xml, "host.xml");
  EXPECT_TRUE(host) << (host ? std::string{} : host.error().message);
  return host ? *std::move(host) : Host{};
}

/// Returns the nodes that one such host forms in a job of `nranks`.
inline std::vector<System> systems_of(const std::string& xml, int nranks,
                                      const TopologyParameters& parameters = {}) {
  const Host host = parsed(xml);
  const Host* const hosts[] = {&host};
  auto systems = make_systems({.hosts = hosts, .first_rank = 0, .nranks = nranks}, parameters);
  EXPECT_TRUE(systems) << (systems ? std::string{} : systems.error().message);
  return systems ? *std::move(systems) : std::vector<System>(1);
}

}  // namespace ringside::small_hosts

#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engine/channels/graph_xml.h"
#include "engine/channels/report.h"

namespace {

using namespace ringside;

/// Returns two GPUs and a NIC on one CPU, in a job with ranks elsewhere.
System small_system() {
  HostCpu cpu{.numa = 0, .arch = "x86_64", .vendor = "AuthenticAMD", .family = 175, .model = 1};
  for (int dev = 0; dev < 2; ++dev) {
    HostPci gpu{.bus_id = dev == 0 ? "0000:01:00.0" : "0000:02:00.0", .device_class = 0x030200};
    gpu.gpu = HostGpu{.dev = dev, .sm = 80, .rank = dev};
    cpu.pci.push_back(std::move(gpu));
  }
  HostPci nic{.bus_id = "0000:03:00.0", .device_class = 0x020700};
  nic.nic = HostNic{.nets = {{.name = "nic", .mbits_per_second = 100000, .guid = 1}}};
  cpu.pci.push_back(std::move(nic));
  const Host host{.name = "small", .cpus = {cpu}};
  const Host* const hosts[] = {&host};
  return std::move(make_systems({.hosts = hosts, .nranks = 4}, {}).value().front());
}

}  // namespace

/// Feeds graphs from a stranger: they are refused with the line of the error, or accepted: a node that uses them can
/// be reported on, and they are printed as XML that reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const System kSystem = small_system();
  const std::string text(data, data + size);
  const auto graphs = parse_graph_xml(text, "graph.xml", kSystem);
  if (!graphs) {
    RINGSIDE_ASSERT(graphs.error().message.starts_with("graph.xml:"),
                    "an error without its place: {}", graphs.error().message);
    RINGSIDE_ASSERT(!graphs.error().help.empty(), "no fix: {}", graphs.error().message);
    return 0;
  }
  static_cast<void>(report_on(kSystem, {}, {}, *graphs));
  const auto printed = to_graph_xml(*graphs, kSystem);
  RINGSIDE_ASSERT(printed.has_value(), "graphs that do not print: {}", printed.error().message);
  const auto again = parse_graph_xml(*printed, "printed.xml", kSystem);
  RINGSIDE_ASSERT(again.has_value(), "our own XML is refused: {}", again.error().message);
  RINGSIDE_ASSERT(to_graph_xml(*again, kSystem).value() == *printed,
                  "it reads back differently: {}", *printed);
  return 0;
}

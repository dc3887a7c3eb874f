#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "diag/audit/expected_job.h"
#include "diag/audit/findings.h"
#include "engine/topology/paths/system.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside::audit {
namespace {

/// Bandwidth of 16 lanes: the limit of GPUs before Ampere, and before Hopper.
constexpr float kPci3Gbs = 12, kPci4Gbs = 24;

/// Reads `0-1b000` or `1B000`: (domain << 20) | (bus << 12) | (device << 4) | function.
std::int64_t number_of(const std::string& id) {
  const std::size_t dash = id.find('-');
  const std::string digits = dash == std::string::npos ? id : id.substr(dash + 1);
  std::int64_t number = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

std::string bus_id_of(const std::string& id) {
  const std::int64_t number = std::max<std::int64_t>(number_of(id), 0);
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", number >> 20, (number >> 12) & 0xff,
                     (number >> 4) & 0xff, number & 0xf);
}

/// Sets the PCI link speed and width from which the engine computes that bandwidth.
/// source  PCIe: 0.24 .. GB/s as in NCCL, 12 GB/s for gen3 x16, twice as much for each later generation
/// Sets the speed and width of a PCI link from its rate, as the slowest generation that reaches the rate with 16 lanes.
/// bw      GB/s, as pci_bandwidth() computes it
/// source  the inverse of pci_bandwidth()
void set_link(HostPci& pci, float bw) {
  struct Generation {
    float x16;  ///< GB/s with 16 lanes
    const char* speed;
  };
  constexpr int kLanes = 16;
  for (const Generation one :
       {Generation{12, "8.0 GT/s PCIe"}, Generation{24, "16.0 GT/s PCIe"},
        Generation{48, "32.0 GT/s PCIe"}, Generation{96, "64.0 GT/s PCIe"}}) {
    pci.link_speed = one.speed;
    pci.link_width = std::clamp(static_cast<int>(bw * kLanes / one.x16 + 0.5F), 1, kLanes);
    if (bw <= one.x16) break;
  }
}

/// The compute capability whose NVLinks have that total bandwidth, and their number.
struct NvLinks {
  int sm = 80, count = 1;
};

/// Finds the NVLinks by their total bandwidth. Generations with equal link speed are distinguished by their maximum
/// number of links per GPU and by the PCI link.
/// pci_bw  of that GPU, GB/s
/// source  NVIDIA's data sheets of P100, V100, A100, H100, B200, RTX 3090: NVLinks per GPU, and PCIe
NvLinks nvlinks_of(float bw, float pci_bw, const NvLinkSpeeds& speeds) {
  // If the rate fits several generations, the first one that fits best counts, so the usual one for the PCI link is
  // first.
  struct Generation {
    int sm, most_links;
    bool is_pci5;
  };
  constexpr std::array kBeforePci4 = {Generation{70, 6, false},  Generation{60, 4, false},
                                      Generation{80, 12, false}, Generation{90, 18, true},
                                      Generation{100, 18, true}, Generation{86, 4, false}};
  constexpr std::array kSincePci4 = {Generation{80, 12, false}, Generation{90, 18, true},
                                     Generation{100, 18, true}, Generation{86, 4, false},
                                     Generation{70, 6, false},  Generation{60, 4, false}};
  NvLinks best;
  float least = 1;
  for (const Generation& one : pci_bw <= kPci3Gbs ? kBeforePci4 : kSincePci4) {
    if (pci_bw > kPci4Gbs && !one.is_pci5) continue;
    const float count = bw / nvlink_bandwidth(one.sm, speeds);
    if (std::round(count) < 1 || std::round(count) > static_cast<float>(one.most_links)) continue;
    const float off = std::abs(count - std::round(count)) / std::max(count, 1.0F);
    if (off >= least - 1e-4F) continue;
    least = off;
    best = {one.sm, static_cast<int>(std::round(count))};
  }
  return best;
}

/// Sets a processor of that model from `1/1/3`: architecture, vendor, model, in NCCL's numbering.
void set_processor(const std::string& details, HostCpu& cpu) {
  if (details.starts_with("3/")) {
    cpu.arch = "arm64";
    return;
  }
  cpu.arch = "x86_64";
  const bool is_amd = details.starts_with("1/2");
  cpu.vendor = is_amd ? "AuthenticAMD" : "GenuineIntel";
  cpu.family = is_amd ? 0x17 : 6;
  constexpr std::array kIntel = {0x4f, 0x55, 0x8f,
                                 0xcf};  // a model of each generation of cpu_info()
  const std::size_t slash = details.rfind('/');
  const int model = slash == std::string::npos ? 3 : std::atoi(details.c_str() + slash + 1);
  cpu.model = kIntel[static_cast<std::size_t>(std::clamp(model, 1, 4) - 1)];
}

/// Reads `0/a0000001/1/50.000000`: whether it reduces, the adapter, its port, GB/s.
void set_adapter(const std::string& details, HostNet& net) {
  // Adapters of unknown identity count as different.
  net.guid = static_cast<std::uint64_t>(net.dev) + 1;
  const std::size_t first = details.find('/');
  if (first == std::string::npos) return;
  net.coll = details[0] == '1';
  const char* const end = details.data() + details.size();
  const char* const port = std::from_chars(details.data() + first + 1, end, net.guid, 16).ptr;
  if (port < end && *port == '/') std::from_chars(port + 1, end, net.port);
}

void set_c2c(HostGpu& gpu, float bw) {
  constexpr int kMbytes = 1000;
  gpu.c2c = HostC2c{static_cast<int>(bw * kMbytes + 0.5F), 1};
  gpu.sm = std::max(gpu.sm, 90);  // the first that has NVLink C2C
}

}  // namespace

Result<Host> host_of_dump(const TopologyDump& dump, const TopologyRules& rules) {
  Host host{.name = dump.host};
  // Dumps indent by three columns per level. This stack holds the enclosing nodes and their indents.
  std::vector<std::pair<int, HostPci*>> enclosing;
  HostPci* last_gpu = nullptr;
  float last_gpu_bw = 0;
  int ngpus = 0, nnets = 0;
  for (const DumpedNode& node : dump.nodes) {
    while (!enclosing.empty() && enclosing.back().first >= node.indent) enclosing.pop_back();
    if (node.type == "CPU" && node.link.empty()) {
      HostCpu cpu{.numa = static_cast<int>(std::max<std::int64_t>(number_of(node.id), 0))};
      // The hosts of one NVLink domain are dumped one after the other; only the first is kept.
      const bool is_known = std::any_of(host.cpus.begin(), host.cpus.end(),
                                        [&](const HostCpu& one) { return one.numa == cpu.numa; });
      if (is_known) break;
      set_processor(node.details, cpu);
      host.cpus.push_back(std::move(cpu));
      enclosing.clear();
      continue;
    }
    if (host.cpus.empty()) continue;
    std::vector<HostPci>& children =
        enclosing.empty() ? host.cpus.back().pci : enclosing.back().second->children;
    // A link to the CPU is C2C, also if the release prints it as NVLink.
    const bool is_c2c =
        node.link == "C2C" || (node.link == "NVL" && rules.c2c_link == C2cLink::NvLink);
    if (is_c2c && node.type == "CPU" && last_gpu != nullptr) {
      set_c2c(*last_gpu->gpu, node.bw);
      continue;
    }
    if (node.link == "NVL" && last_gpu != nullptr) {
      const NvLinks links = nvlinks_of(node.bw, last_gpu_bw, rules.nvlink);
      const bool is_first = last_gpu->gpu->nvlinks.empty() && !last_gpu->gpu->c2c;
      last_gpu->gpu->sm = is_first ? links.sm : std::max(last_gpu->gpu->sm, links.sm);
      const bool is_switch = node.type == "NVS";
      last_gpu->gpu->nvlinks.push_back({is_switch ? "fffffff:ffff:ff" : bus_id_of(node.id),
                                        links.count, is_switch ? 0x068000U : 0x030200U});
      continue;
    }
    if (node.link != "PCI" && node.link != "NET") continue;
    if (node.type == "GPU") {
      HostPci gpu{.bus_id = bus_id_of(node.id), .device_class = 0x030200};
      set_link(gpu, node.bw);
      gpu.gpu = HostGpu{.dev = ngpus++, .sm = node.bw > kPci4Gbs ? 90 : 80, .gdr = true};
      last_gpu_bw = node.bw;
      children.reserve(64);  // pointers to the elements stay valid
      children.push_back(std::move(gpu));
      last_gpu = &children.back();
      continue;
    }
    if (node.type == "PCI" || node.type == "NIC") {
      HostPci pci{.bus_id = bus_id_of(node.id),
                  .device_class = node.type == "PCI" ? 0x060400U : 0x020000U};
      set_link(pci, node.bw);
      if (node.type == "NIC") pci.nic = HostNic{};
      children.reserve(64);
      children.push_back(std::move(pci));
      enclosing.emplace_back(node.indent, &children.back());
      continue;
    }
    if (node.type == "NET" && !enclosing.empty() && enclosing.back().second->nic) {
      HostNet net{.name = fmt::format("net{}", nnets), .dev = nnets};
      ++nnets;
      net.mbits_per_second = static_cast<int>(node.bw * 8'000 + 0.5F);
      set_adapter(node.details, net);
      net.gdr = true;
      enclosing.back().second->nic->nets.push_back(std::move(net));
    }
  }
  if (ngpus == 0)
    return Error{ErrorCode::Corrupt, fmt::format("the topology of {} has no GPU", dump.host)};
  int rank = 0;
  const auto number = [&rank](const auto& self, std::vector<HostPci>& list) -> void {
    for (HostPci& pci : list) {
      if (pci.gpu) pci.gpu->rank = rank++;
      self(self, pci.children);
    }
  };
  for (HostCpu& cpu : host.cpus) number(number, cpu.pci);
  // Lost lines can, for example, nest devices in devices, so the dump is checked as strictly as a file.
  RINGSIDE_TRY(Host checked, parse_nccl_xml(to_nccl_xml(host), "the topology of " + dump.host));
  checked.name = dump.host;
  return checked;
}

}  // namespace ringside::audit

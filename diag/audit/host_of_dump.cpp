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

/// Bandwidth of 16 lanes in GB/s, as NCCL computes it: the limit of GPUs before Ampere, before Hopper, and after.
constexpr float kPci3Gbs = 12, kPci4Gbs = 24, kPci5Gbs = 48, kPci6Gbs = 96;

/// PCI classes of the devices, as in NCCL's topology files.
constexpr std::uint32_t kGpuClass = 0x030200, kBridgeClass = 0x060400, kEthernetClass = 0x020000;

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
       {Generation{kPci3Gbs, "8.0 GT/s PCIe"}, Generation{kPci4Gbs, "16.0 GT/s PCIe"},
        Generation{kPci5Gbs, "32.0 GT/s PCIe"}, Generation{kPci6Gbs, "64.0 GT/s PCIe"}}) {
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
    constexpr float kRounding = 1e-4F;  // of printed rates: fits this close count as equal
    if (off >= least - kRounding) continue;
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

/// Builds a host from the lines of a dump. A line's indent shows the node to which it belongs.
class HostBuilder {
 public:
  HostBuilder(const std::string& name, const TopologyRules& rules)
      : host_{.name = name}, rules_(rules) {}

  /// Takes the next line.
  /// returns  false: the line repeats a processor. The hosts of one NVLink domain are dumped one after the other, and
  ///          only the first is kept.
  bool take(const DumpedNode& node) {
    while (!enclosing_.empty() && enclosing_.back().indent >= node.indent) enclosing_.pop_back();
    if (node.type == "CPU" && node.link.empty()) return add_processor(node);
    if (host_.cpus.empty()) return true;
    // A link to the CPU is C2C, also if the release prints it as NVLink.
    const bool is_c2c =
        node.link == "C2C" || (node.link == "NVL" && rules_.c2c_link == C2cLink::NvLink);
    if (is_c2c && node.type == "CPU" && !gpus_.empty()) {
      set_c2c(node.bw);
    } else if (node.link == "NVL" && !gpus_.empty()) {
      add_nvlinks(node);
    } else if (node.link != "PCI" && node.link != "NET") {
      return true;
    } else if (node.type == "GPU") {
      add_gpu(node);
    } else if (node.type == "PCI" || node.type == "NIC") {
      add_bridge_or_nic(node);
    } else if (node.type == "NET" && !enclosing_.empty() && enclosing_.back().pci->nic) {
      add_network_device(node, *enclosing_.back().pci->nic);
    }
    return true;
  }

  /// Returns the host. Ranks follow the order of the GPUs in the tree.
  Host finish() {
    int rank = 0;
    for (HostCpu& cpu : host_.cpus) place_gpus(cpu.pci, rank);
    return std::move(host_);
  }

  [[nodiscard]] bool has_gpu() const { return !gpus_.empty(); }

 private:
  bool add_processor(const DumpedNode& node) {
    HostCpu cpu{.numa = static_cast<int>(std::max<std::int64_t>(number_of(node.id), 0))};
    const bool is_known = std::any_of(host_.cpus.begin(), host_.cpus.end(),
                                      [&](const HostCpu& one) { return one.numa == cpu.numa; });
    if (is_known) return false;
    set_processor(node.details, cpu);
    host_.cpus.push_back(std::move(cpu));
    enclosing_.clear();
    return true;
  }

  /// Adds a device to the innermost enclosing node.
  HostPci& add(HostPci pci) {
    std::vector<HostPci>& children =
        enclosing_.empty() ? host_.cpus.back().pci : enclosing_.back().pci->children;
    children.push_back(std::move(pci));
    return children.back();
  }

  void add_gpu(const DumpedNode& node) {
    HostPci pci{.bus_id = bus_id_of(node.id), .device_class = kGpuClass};
    set_link(pci, node.bw);
    pci.gpu = HostGpu{.dev = static_cast<int>(gpus_.size()),
                      .sm = node.bw > kPci4Gbs ? kHopperSm : kAmpereSm,
                      .gdr = true};
    gpus_.push_back(*pci.gpu);
    last_gpu_bw_ = node.bw;
    add(std::move(pci));
  }

  void set_c2c(float bw) {
    constexpr int kMbytes = 1000;
    HostGpu& gpu = gpus_.back();
    gpu.c2c = HostC2c{static_cast<int>(bw * kMbytes + 0.5F), 1};
    gpu.sm = std::max(gpu.sm, kHopperSm);  // the first that has NVLink C2C
  }

  void add_nvlinks(const DumpedNode& node) {
    HostGpu& gpu = gpus_.back();
    const NvLinks links = nvlinks_of(node.bw, last_gpu_bw_, rules_.nvlink);
    const bool is_first = gpu.nvlinks.empty() && !gpu.c2c;
    gpu.sm = is_first ? links.sm : std::max(gpu.sm, links.sm);
    const bool is_switch = node.type == "NVS";
    gpu.nvlinks.push_back({is_switch ? "fffffff:ffff:ff" : bus_id_of(node.id), links.count,
                           is_switch ? kNvSwitchClass : kGpuClass});
  }

  void add_bridge_or_nic(const DumpedNode& node) {
    const bool is_nic = node.type == "NIC";
    HostPci pci{.bus_id = bus_id_of(node.id),
                .device_class = is_nic ? kEthernetClass : kBridgeClass};
    set_link(pci, node.bw);
    if (is_nic) pci.nic = HostNic{};
    HostPci* const added = &add(std::move(pci));
    enclosing_.push_back({node.indent, added});
  }

  void add_network_device(const DumpedNode& node, HostNic& nic) {
    constexpr float kMbitsPerGbyte = 8'000;
    HostNet net{.name = fmt::format("net{}", nnets_), .dev = nnets_};
    ++nnets_;
    net.mbits_per_second = static_cast<int>(node.bw * kMbitsPerGbyte + 0.5F);
    set_adapter(node.details, net);
    net.gdr = true;
    nic.nets.push_back(std::move(net));
  }

  /// Puts the GPUs, whose links are known now, into the tree, and numbers their ranks from `rank`.
  void place_gpus(std::vector<HostPci>& list, int& rank) {
    for (HostPci& pci : list) {
      if (pci.gpu) {
        pci.gpu = std::move(gpus_[static_cast<std::size_t>(pci.gpu->dev)]);
        pci.gpu->rank = rank++;
      }
      place_gpus(pci.children, rank);
    }
  }

  static constexpr int kAmpereSm = 80, kHopperSm = 90;  ///< compute capability times 10

  /// A node that the next lines may belong to. Devices are added only to the innermost one, so that no pointer moves.
  struct Enclosing {
    int indent;
    HostPci* pci;
  };

  Host host_;
  const TopologyRules& rules_;
  std::vector<Enclosing> enclosing_ = {};  ///< outermost first
  std::vector<HostGpu> gpus_ = {};  ///< by dev; the lines of NVLinks after a GPU are the last one's
  float last_gpu_bw_ = 0;           ///< GB/s of its PCI link
  int nnets_ = 0;
};

}  // namespace

Result<Host> host_of_dump(const TopologyDump& dump, const TopologyRules& rules) {
  HostBuilder builder(dump.host, rules);
  for (const DumpedNode& node : dump.nodes) {
    if (!builder.take(node)) break;
  }
  if (!builder.has_gpu())
    return Error{ErrorCode::Corrupt, fmt::format("the topology of {} has no GPU", dump.host)};
  // Lost lines can, for example, nest devices in devices, so the dump is checked as strictly as a file.
  RINGSIDE_TRY(Host checked,
               parse_nccl_xml(to_nccl_xml(builder.finish()), "the topology of " + dump.host));
  checked.name = dump.host;
  return checked;
}

}  // namespace ringside::audit

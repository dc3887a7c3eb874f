#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "diag/audit/expected_job.h"
#include "diag/audit/findings.h"

namespace ringside::audit {
namespace {

/// The digits of `0-1b000` or `1B000`: (domain << 20) | (bus << 12) | (device << 4) | function.
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

/// A link that has that bandwidth again in the engine: lanes of a generation.
/// source  PCIe: 0.24 .. GB/s as NCCL counts them, 12 GB/s for gen3 x16, 24 for gen4, 48 for gen5
void set_link(HostPci& pci, float bw) {
  struct Generation {
    float x16;
    const char* speed;
  };
  for (const Generation one : {Generation{12, "8.0 GT/s PCIe"}, Generation{24, "16.0 GT/s PCIe"},
                               Generation{48, "32.0 GT/s PCIe"}}) {
    pci.link_speed = one.speed;
    if (bw <= one.x16) break;
  }
  pci.link_width = 16;
}

int sm_of_link(float nvlink_bw) {
  // One link: 20 GB/s on compute capability 7.0, 20 on 8.0 (12 of them), 20.6 on 9.0.
  return nvlink_bw > 300 ? 90 : 80;
}

}  // namespace

Result<Host> host_of_dump(const TopologyDump& dump) {
  Host host{.name = dump.host};
  // Dumps indent by three columns a level; a stack of what encloses, by indent.
  std::vector<std::pair<int, HostPci*>> enclosing;
  HostPci* last_gpu = nullptr;
  int ngpus = 0, nnets = 0;
  for (const DumpedNode& node : dump.nodes) {
    while (!enclosing.empty() && enclosing.back().first >= node.indent) enclosing.pop_back();
    if (node.type == "CPU" && node.link.empty()) {
      HostCpu cpu{.numa = static_cast<int>(std::max<std::int64_t>(number_of(node.id), 0))};
      const bool is_arm = node.details.starts_with("3/");
      cpu.arch = is_arm ? "arm64" : "x86_64";
      if (!is_arm) cpu.vendor = node.details.starts_with("1/2") ? "AuthenticAMD" : "GenuineIntel";
      cpu.family = 6;
      cpu.model = 143;
      host.cpus.push_back(std::move(cpu));
      enclosing.clear();
      continue;
    }
    if (host.cpus.empty()) continue;
    std::vector<HostPci>& children =
        enclosing.empty() ? host.cpus.back().pci : enclosing.back().second->children;
    if (node.link == "NVL" && last_gpu != nullptr) {
      constexpr float kOneLink = 20;
      const int count = std::max(1, static_cast<int>(node.bw / kOneLink + 0.5F));
      last_gpu->gpu->sm = std::max(last_gpu->gpu->sm, sm_of_link(node.bw));
      const bool is_switch = node.type == "NVS";
      last_gpu->gpu->nvlinks.push_back({is_switch ? "fffffff:ffff:ff" : bus_id_of(node.id), count,
                                        is_switch ? 0x068000U : 0x030200U});
      continue;
    }
    if (node.link != "PCI" && node.link != "NET") continue;
    if (node.type == "GPU") {
      HostPci gpu{.bus_id = bus_id_of(node.id), .device_class = 0x030200};
      set_link(gpu, node.bw);
      gpu.gpu = HostGpu{.dev = ngpus++, .sm = 80, .gdr = true};
      children.reserve(64);  // pointers to what is here stay
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
      net.mbits_per_second = static_cast<int>(node.bw * 8'000);
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
  return host;
}

}  // namespace ringside::audit

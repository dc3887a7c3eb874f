#include "cli/topo/drawing_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ringside::cli {
namespace {

void collect(const std::vector<HostPci>& functions, std::vector<const HostPci*>& gpus) {
  for (const HostPci& function : functions) {
    if (function.gpu) gpus.push_back(&function);
    collect(function.children, gpus);
  }
}

}  // namespace

std::string short_bus_id(const std::string& bus_id) {
  return bus_id.starts_with("0000:") ? bus_id.substr(5) : bus_id;
}

std::string cpu_label(const HostCpu& cpu) { return fmt::format("CPU {}", cpu.numa); }

std::string cpu_detail(const HostCpu& cpu) {
  return cpu.vendor.empty() ? cpu.arch : fmt::format("{} {}", cpu.arch, cpu.vendor);
}

std::string net_label(const HostNet& net) { return fmt::format("NIC {}", net.dev); }

std::string net_detail(const HostNet& net) {
  if (net.mbits_per_second <= 0) return net.name;
  return fmt::format("{} {:g} Gbit/s", net.name, net.mbits_per_second / 1000.0);
}

std::string pcie_label(const HostPci& pci) {
  const double speed = std::strtod(pci.link_speed.c_str(), nullptr);
  int generation = 0;
  for (const double known : {2.5, 5.0, 8.0, 16.0, 32.0, 64.0}) {
    if (speed >= known) ++generation;
  }
  if (generation == 0 || pci.link_width == 0) return {};
  return fmt::format("gen{} x{}", generation, pci.link_width);
}

int nvswitch_links(const HostGpu& gpu) {
  int links = 0;
  for (const HostNvLink& link : gpu.nvlinks) {
    if (link.target_class == 0x068000) links += link.count;
  }
  return links;
}

std::string dot_quoted(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    if (c == '\n') {
      safe += "\\n";
    } else {
      safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return "\"" + safe + "\"";
}

std::vector<const HostPci*> gpu_functions(const Host& host) {
  std::vector<const HostPci*> gpus;
  for (const HostCpu& cpu : host.cpus) collect(cpu.pci, gpus);
  return gpus;
}

const HostGpu* peer_of(const std::vector<const HostPci*>& gpus, const HostNvLink& link) {
  const auto found = std::find_if(gpus.begin(), gpus.end(),
                                  [&](const HostPci* gpu) { return gpu->bus_id == link.target; });
  return found == gpus.end() ? nullptr : &*(*found)->gpu;
}

}  // namespace ringside::cli

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/append.h"
#include "base/text.h"
#include "base/wording.h"
#include "cli/probe/probe_report.h"

namespace ringside::cli {
namespace {

using audit::Severity;
using probe::Machine;

constexpr int kNameWidth = 13;

/// `name  text`, wrapped below itself.
void add_line(std::string& out, const std::string& name, const std::string& text,
              const ProbeStyle& style) {
  const std::string indent(static_cast<std::size_t>(kNameWidth), ' ');
  out += wrap(text, fmt::format("{:<{}}", name, kNameWidth), indent, style.width);
}

std::string speed_text(double gbits) {
  return gbits > 0 ? fmt::format("{:g} Gbit/s", gbits) : std::string("speed not known");
}

std::string nic_text(const probe::Nic& nic) {
  std::string text = fmt::format("{}: {}", nic.name,
                                 !nic.is_up        ? "off"
                                 : nic.has_carrier ? "up"
                                                   : "up, no carrier");
  if (nic.mbits_per_second > 0) append(text, ", {}", speed_text(nic.mbits_per_second / 1e3));
  append(text, ", MTU {}", nic.mtu);
  if (!nic.driver.empty()) append(text, ", {}", nic.driver);
  if (!nic.is_virtual && !nic.pci.empty()) append(text, " at {}", nic.pci);
  if (nic.numa >= 0) append(text, ", NUMA {}", nic.numa);
  if (!nic.addresses.empty()) append(text, ", {}", fmt::join(nic.addresses, " "));
  if (nic.addresses.empty() && nic.has_link_local) text += ", link-local address only";
  return text;
}

std::string rdma_text(const probe::RdmaPort& port) {
  std::string text = fmt::format("{}:{}: {} ({}), {}, {}", port.device, port.number, port.state,
                                 port.physical, port.link_layer(), speed_text(port.gigabits()));
  if (!port.netdev.empty()) append(text, ", {}", port.netdev);
  if (!port.firmware.empty()) append(text, ", firmware {}", port.firmware);
  if (port.numa >= 0) append(text, ", NUMA {}", port.numa);
  const auto v2 = std::count_if(port.gids.begin(), port.gids.end(), [](const RdmaPort::Entry& gid) {
    return gid.type == GidType::RoceV2;
  });
  append(text, ", {}", plural(port.gids.size(), "GID", "GIDs"));
  if (port.is_ethernet) append(text, " ({} of RoCE v2)", v2);
  for (const auto& [name, value] : port.counters) append(text, ", {} {}", name, value);
  return text;
}

void add_gpus(const Machine& machine, const ProbeStyle& style, std::string& out) {
  if (machine.gpus.empty()) add_line(out, "GPUs", machine.gpu_note, style);
  const char* name = "GPUs";
  for (const probe::Gpu& gpu : machine.gpus) {
    std::string text = fmt::format("{} {} at {}", gpu.vendor, gpu.model, gpu.pci);
    if (gpu.compute_capability) append(text, ", sm_{}", *gpu.compute_capability);
    if (gpu.nvlinks)
      append(text, ", {}", plural(static_cast<std::size_t>(*gpu.nvlinks), "NVLink", "NVLinks"));
    if (gpu.numa >= 0) append(text, ", NUMA {}", gpu.numa);
    add_line(out, name, text, style);
    name = "";
  }
  if (!machine.gpus.empty() && !machine.gpu_note.empty())
    add_line(out, "", machine.gpu_note, style);
  if (!machine.nvidia_driver.empty()) {
    add_line(out, "driver",
             fmt::format("NVIDIA {}{}", machine.nvidia_driver,
                         machine.is_open_driver ? ", open kernel modules (DMA-BUF)" : ""),
             style);
  }
}

std::string gpu_direct_text(const Machine& machine) {
  std::vector<std::string> parts;
  parts.push_back(machine.has_peer_memory ? "nvidia_peermem is loaded" : "no nvidia_peermem");
  parts.push_back(machine.has_gdrcopy ? "gdrdrv is loaded" : "no gdrdrv");
  if (machine.is_open_driver) parts.push_back("DMA-BUF by the open driver");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string firewall_text(const probe::Firewall& firewall) {
  if (!firewall.is_read) return "not read: " + firewall.source;
  if (firewall.rules == 0 && firewall.drops.empty())
    return fmt::format("no rules ({})", firewall.source);
  return fmt::format("{} ({}), {} of them dropping what comes in or goes out",
                     plural(static_cast<std::size_t>(firewall.rules), "rule", "rules"),
                     firewall.source, firewall.drops.size());
}

std::string limit_text(const std::optional<std::uint64_t>& limit, bool is_bytes) {
  if (!limit) return "unlimited";
  return is_bytes ? format_bytes(Bytes{*limit}) : fmt::format("{}", *limit);
}

}  // namespace

std::string probe_text(const Machine& machine, const probe::Plan& plan, const ProbeStyle& style) {
  std::string out;
  add_line(
      out, "host",
      fmt::format("{}, {}{}{}", machine.host, machine.kernel,
                  machine.container.empty() ? "" : ", in a container (" + machine.container + ")",
                  machine.memory_limit.empty() ? "" : ", memory limit " + machine.memory_limit),
      style);
  add_gpus(machine, style, out);
  const char* name = "NICs";
  for (const probe::Nic& nic : machine.nics) {
    // Unused interfaces that the kernel creates by itself are no information.
    if (nic.is_virtual && !nic.is_up && nic.addresses.empty()) continue;
    add_line(out, name, nic_text(nic), style);
    name = "";
  }
  if (machine.rdma.empty()) {
    add_line(out, "RDMA",
             fmt::format("no device in /sys/class/infiniband; {}",
                         machine.verbs_library.empty() ? "no libibverbs" : machine.verbs_library),
             style);
  }
  name = "RDMA";
  for (const probe::RdmaPort& port : machine.rdma) {
    add_line(out, name, rdma_text(port), style);
    name = "";
  }
  if (!machine.gpus.empty() || !machine.rdma.empty()) {
    add_line(out, "GPUDirect", gpu_direct_text(machine), style);
    add_line(out, "ACS",
             machine.acs.empty()
                 ? (machine.acs_note.empty() ? "off at every bridge" : machine.acs_note)
                 : fmt::format("on at {}", plural(machine.acs.size(), "bridge", "bridges")),
             style);
  }
  if (!machine.iommu.empty()) {
    const auto count = std::count_if(machine.iommu.begin(), machine.iommu.end(),
                                     [](const auto& one) { return one.second.starts_with("DMA"); });
    add_line(out, "IOMMU", fmt::format("translates {} of {} devices", count, machine.iommu.size()),
             style);
  }
  add_line(out, "/dev/shm",
           machine.shm.is_there
               ? fmt::format("{:.1f} GiB, {:.1f} GiB free",
                             static_cast<double>(machine.shm.size.value) / (1 << 30),
                             static_cast<double>(machine.shm.free.value) / (1 << 30))
               : std::string("is not there"),
           style);
  add_line(out, "limits",
           fmt::format("memlock {}, open files {}; {} huge pages of 2 MiB",
                       limit_text(machine.limits.memlock, true),
                       limit_text(machine.limits.nofile, false), machine.hugepages),
           style);
  add_line(out, "clock", machine.clock_source.empty() ? "not known" : machine.clock_source, style);
  add_line(out, "firewall", firewall_text(machine.firewall), style);
  name = "variables";
  for (const auto& [variable, value] : machine.variables) {
    const std::string meaning = probe::meaning_of(variable);
    add_line(out, name,
             fmt::format("{}={}{}", variable, value, meaning.empty() ? "" : ": " + meaning), style);
    name = "";
  }
  name = "backends";
  for (const probe::Backend& one : machine.backends) {
    add_line(out, name,
             one.version.empty() ? fmt::format("{}: none, {}", one.name, one.from)
                                 : fmt::format("{}: {} ({})", one.name, one.version, one.from),
             style);
    name = "";
  }
  const probe::PyTorch& pytorch = machine.pytorch;
  add_line(out, "PyTorch",
           pytorch.version.empty() ? (pytorch.python.empty() ? "python3 has none" : pytorch.python)
                                   : fmt::format("{} ({})", pytorch.version, pytorch.python),
           style);
  for (const probe::Backend& one : pytorch.backends) {
    add_line(
        out, "",
        fmt::format("{}: {}", one.name, one.version.empty() ? "missing, " + one.from : one.version),
        style);
  }
  out += "\n";
  add_line(out, "would use",
           plan.interface.empty() ? plan.interface_why
                                  : fmt::format("{}: {}", plan.interface, plan.interface_why),
           style);
  add_line(out, "", plan.transport_why, style);
  add_line(out, "",
           plan.rdma_devices.empty() ? fmt::format("no RDMA: {}", plan.rdma_why)
                                     : fmt::format("RDMA: {}", plan.rdma_why),
           style);
  add_line(out, "backend",
           plan.backend.empty() ? plan.backend_why
                                : fmt::format("{}: {}", plan.backend, plan.backend_why),
           style);
  return out;
}

std::string probe_findings_text(const std::vector<audit::Finding>& findings,
                                const ProbeStyle& style) {
  if (findings.empty()) return "\nnothing is wrong that can be seen from here\n";
  std::string out = "\n";
  for (const audit::Finding& one : findings) {
    const char* word = one.severity == Severity::Error     ? "ERROR"
                       : one.severity == Severity::Warning ? "WARN "
                                                           : "note ";
    const char* colour = one.severity == Severity::Error     ? "\x1b[1;31m"
                         : one.severity == Severity::Warning ? "\x1b[1;33m"
                                                             : "\x1b[2m";
    std::string title = wrap(fmt::format("{}: {}", one.id, one.title), fmt::format("{} ", word),
                             "      ", style.width);
    if (style.has_colour) title.replace(0, 5, fmt::format("{}{}\x1b[0m", colour, word));
    out += title;
    if (!one.hosts.empty())
      out += wrap(list_of(one.hosts), "      on:  ", "           ", style.width);
    out += wrap(one.cause, "      why: ", "           ", style.width);
    out += wrap(one.fix, "      fix: ", "           ", style.width);
  }
  return out + fmt::format("\nringside audit --about ID explains a finding\n");
}

std::string hosts_text(const std::vector<probe::HostReport>& ranks, const ProbeStyle& style) {
  const std::vector<probe::HostReport> hosts = probe::one_a_host(ranks);
  std::string out = fmt::format("\n{} on {}\n", plural(ranks.size(), "rank", "ranks"),
                                plural(hosts.size(), "host", "hosts"));
  for (const probe::HostReport& host : hosts) {
    std::vector<int> numbers;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ranks[rank].identity == host.identity) numbers.push_back(static_cast<int>(rank));
    }
    add_line(out, "  " + host.host,
             fmt::format(" {} {}", numbers.size() == 1 ? "rank" : "ranks", format_ranks(numbers)),
             style);
  }
  if (hosts.size() > 1 && probe::compare(hosts).empty())
    out += "they are alike in all that was compared\n";
  return out;
}

}  // namespace ringside::cli

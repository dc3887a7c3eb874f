#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

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

/// One line for each text; the first one has the name.
void add_lines(std::string& out, const std::string& name, const std::vector<std::string>& texts,
               const ProbeStyle& style) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    add_line(out, i == 0 ? name : std::string(), texts[i], style);
  }
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

std::string gpu_text(const probe::Gpu& gpu) {
  std::string text = fmt::format("{} {} at {}", gpu.vendor, gpu.model, gpu.pci);
  if (gpu.compute_capability) append(text, ", sm_{}", *gpu.compute_capability);
  if (gpu.nvlinks)
    append(text, ", {}", plural(static_cast<std::size_t>(*gpu.nvlinks), "NVLink", "NVLinks"));
  if (gpu.numa >= 0) append(text, ", NUMA {}", gpu.numa);
  return text;
}

void add_gpus(const Machine& machine, const ProbeStyle& style, std::string& out) {
  std::vector<std::string> texts;
  for (const probe::Gpu& gpu : machine.gpus) texts.push_back(gpu_text(gpu));
  if (texts.empty() || !machine.gpu_note.empty()) texts.push_back(machine.gpu_note);
  add_lines(out, "GPUs", texts, style);
  if (machine.nvidia_driver.empty()) return;
  add_line(out, "driver",
           fmt::format("NVIDIA {}{}", machine.nvidia_driver,
                       machine.is_open_driver ? ", open kernel modules (DMA-BUF)" : ""),
           style);
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

void add_nics(const Machine& machine, const ProbeStyle& style, std::string& out) {
  std::vector<std::string> texts;
  for (const probe::Nic& nic : machine.nics) {
    // Unused interfaces that the kernel creates by itself are no information.
    if (nic.is_virtual && !nic.is_up && nic.addresses.empty()) continue;
    texts.push_back(nic_text(nic));
  }
  add_lines(out, "NICs", texts, style);
  texts.clear();
  for (const probe::RdmaPort& port : machine.rdma) texts.push_back(rdma_text(port));
  if (texts.empty()) {
    texts.push_back(
        fmt::format("no device in /sys/class/infiniband; {}",
                    machine.verbs_library.empty() ? "no libibverbs" : machine.verbs_library));
  }
  add_lines(out, "RDMA", texts, style);
}

/// What lets a GPU and a NIC exchange data directly, or prevents it.
void add_direct_paths(const Machine& machine, const ProbeStyle& style, std::string& out) {
  if (!machine.gpus.empty() || !machine.rdma.empty()) {
    add_line(out, "GPUDirect", gpu_direct_text(machine), style);
    add_line(out, "ACS",
             machine.acs.empty()
                 ? (machine.acs_note.empty() ? "off at every bridge" : machine.acs_note)
                 : fmt::format("on at {}", plural(machine.acs.size(), "bridge", "bridges")),
             style);
  }
  if (machine.iommu.empty()) return;
  const auto count = std::count_if(machine.iommu.begin(), machine.iommu.end(),
                                   [](const auto& one) { return one.second.starts_with("DMA"); });
  add_line(out, "IOMMU", fmt::format("translates {} of {} devices", count, machine.iommu.size()),
           style);
}

std::string gib_text(Bytes bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes.value) / (1 << 30));
}

void add_kernel(const Machine& machine, const ProbeStyle& style, std::string& out) {
  add_line(out, "/dev/shm",
           machine.shm.is_there
               ? fmt::format("{}, {} free", gib_text(machine.shm.size), gib_text(machine.shm.free))
               : "is not there",
           style);
  add_line(out, "limits",
           fmt::format("memlock {}, open files {}; {} huge pages of 2 MiB",
                       limit_text(machine.limits.memlock, true),
                       limit_text(machine.limits.nofile, false), machine.hugepages),
           style);
  add_line(out, "clock", machine.clock_source.empty() ? "not known" : machine.clock_source, style);
  add_line(out, "firewall", firewall_text(machine.firewall), style);
}

void add_software(const Machine& machine, const ProbeStyle& style, std::string& out) {
  std::vector<std::string> texts;
  for (const auto& [variable, value] : machine.variables) {
    const std::string meaning = probe::meaning_of(variable);
    texts.push_back(fmt::format("{}={}{}", variable, value, meaning.empty() ? "" : ": " + meaning));
  }
  add_lines(out, "variables", texts, style);
  texts.clear();
  for (const probe::Backend& one : machine.backends) {
    texts.push_back(one.version.empty()
                        ? fmt::format("{}: none, {}", one.name, one.from)
                        : fmt::format("{}: {} ({})", one.name, one.version, one.from));
  }
  add_lines(out, "backends", texts, style);
  const probe::PyTorch& pytorch = machine.pytorch;
  texts = {pytorch.version.empty() ? (pytorch.python.empty() ? "python3 has none" : pytorch.python)
                                   : fmt::format("{} ({})", pytorch.version, pytorch.python)};
  for (const probe::Backend& one : pytorch.backends) {
    texts.push_back(fmt::format("{}: {}", one.name,
                                one.version.empty() ? "missing, " + one.from : one.version));
  }
  add_lines(out, "PyTorch", texts, style);
}

/// `chosen: why`, or the reason alone if nothing was chosen.
std::string choice_text(const std::string& chosen, const std::string& why) {
  return chosen.empty() ? why : fmt::format("{}: {}", chosen, why);
}

void add_plan(const probe::Plan& plan, const ProbeStyle& style, std::string& out) {
  add_lines(out, "would use",
            {choice_text(plan.interface, plan.interface_why), plan.transport_why,
             fmt::format("{}: {}", plan.rdma_devices.empty() ? "no RDMA" : "RDMA", plan.rdma_why)},
            style);
  add_line(out, "backend", choice_text(plan.backend, plan.backend_why), style);
}

/// How a severity is shown.
struct SeverityStyle {
  std::string_view word;    ///< as wide as the indent of the lines below it, less one
  std::string_view colour;  ///< escape sequence (ECMA-48 SGR)
};

SeverityStyle style_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return {"ERROR", "\x1b[1;31m"};  // bold red
    case Severity::Warning:
      return {"WARN ", "\x1b[1;33m"};  // bold yellow
    default:
      return {"note ", "\x1b[2m"};  // faint
  }
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
  add_nics(machine, style, out);
  add_direct_paths(machine, style, out);
  add_kernel(machine, style, out);
  add_software(machine, style, out);
  out += "\n";
  add_plan(plan, style, out);
  return out;
}

std::string probe_findings_text(const std::vector<audit::Finding>& findings,
                                const ProbeStyle& style) {
  if (findings.empty()) return "\nnothing is wrong that can be seen from here\n";
  std::string out = "\n";
  for (const audit::Finding& one : findings) {
    const auto [word, colour] = style_of(one.severity);
    std::string title = wrap(fmt::format("{}: {}", one.id, one.title), fmt::format("{} ", word),
                             "      ", style.width);
    if (style.has_colour) {
      title.replace(0, word.size(), fmt::format("{}{}\x1b[0m", colour, word));
    }
    out += title;
    if (!one.hosts.empty())
      out += wrap(list_of(one.hosts), "      on:  ", "           ", style.width);
    out += wrap(one.cause, "      why: ", "           ", style.width);
    out += wrap(one.fix, "      fix: ", "           ", style.width);
  }
  return out + "\nringside audit --about ID explains a finding\n";
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

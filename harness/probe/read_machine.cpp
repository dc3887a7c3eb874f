#include "harness/probe/read_machine.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string_view>

#include "base/fd.h"
#include "base/folder.h"
#include "base/host_name.h"
#include "base/text.h"
#include "engine/topology/sources/nvml_source.h"
#include "engine/topology/sources/system_files.h"
#include "harness/probe/files.h"
#include "harness/probe/read_pci.h"
#include "harness/probe/read_rdma.h"

extern char** environ;

namespace ringside::probe {
namespace {

std::optional<std::uint64_t> soft_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

SharedMemory shared_memory_at(const char* path) {
  struct statvfs disk {};
  if (::statvfs(path, &disk) != 0) return {};
  return {true, Bytes{disk.f_blocks * disk.f_frsize}, Bytes{disk.f_bavail * disk.f_frsize}};
}

/// Returns what a program prints; nullopt if it does not exist or fails.
std::optional<std::string> output_of(const char* command) {
  FILE* pipe = ::popen(command, "re");  // NOLINT: a fixed command
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part{};
  constexpr std::size_t kMost = 16 << 20;
  for (std::size_t got; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
    if (text.size() < kMost) text.append(part.data(), got);
  }
  return ::pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

/// Uses the first of the kernel's firewall tools that responds; only root can list all tables.
void list_firewall(Sources& sources) {
  constexpr const char* kPath = "PATH=$PATH:/usr/sbin:/sbin; ";
  sources.firewall_source = ::geteuid() == 0 ? "neither nft nor iptables-save answers"
                                             : "the rules are shown to root alone";
  struct Tool {
    const char* name;
    const char* command;
  };
  // A listing that takes more than two seconds is given up, because the rest of the report is more important.
  constexpr Tool kTools[] = {{"nft", "timeout 2 nft list ruleset 2>/dev/null </dev/null"},
                             {"iptables", "timeout 2 iptables-save 2>/dev/null </dev/null"}};
  for (const Tool& tool : kTools) {
    std::optional<std::string> text = output_of((std::string(kPath) + tool.command).c_str());
    if (!text) continue;
    // If nft lists no rules, the older tables may have some.
    if (text->find("chain ") == std::string::npos && std::string_view(tool.name) == "nft") {
      sources.firewall_source = tool.name;
      sources.firewall_text = text;
      continue;
    }
    sources.firewall_source = tool.name;
    sources.firewall_text = std::move(text);
    return;
  }
}

std::map<std::string, std::string> variables_here() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = text.substr(0, equals);
    for (const char* start :
         {"NCCL_", "GLOO_", "TORCH_NCCL_", "TORCH_DISTRIBUTED_", "TORCH_CPP_LOG", "CUDA_VISIBLE_",
          "CUDA_LAUNCH_", "OMPI_MCA_btl", "UCX_", "RCCL_"}) {
      if (!name.starts_with(start)) continue;
      variables[std::string(name)] = std::string(text.substr(equals + 1));
      break;
    }
  }
  return variables;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Only /proc/net/if_inet6 lists `fe80` addresses with their interface; the engine's list omits them.
bool has_link_local_v6(const std::string& table, const std::string& name) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() >= 6 && words[5] == name && words[0].starts_with("fe8")) return true;
  }
  return false;
}

std::string without_port(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

std::vector<Nic> read_nics(const std::string& root, const std::vector<Interface>& interfaces) {
  const Result<std::string> table = read_file(root + "/proc/net/if_inet6");
  std::vector<Nic> nics;
  for (const std::string& name : names_or_none(root + "/sys/class/net")) {
    const std::string folder = root + "/sys/class/net/" + name;
    // A file next to the folders, such as bonding_masters.
    if (read_line(folder + "/type").empty()) continue;
    const std::string flags = read_line(folder + "/flags");
    Nic nic{.name = name,
            .is_up = (std::strtoul(flags.c_str(), nullptr, 16) & 1) != 0,
            // Reading this file fails while the interface is down.
            .has_carrier = read_line(folder + "/carrier") == "1",
            .is_virtual = read_line(folder + "/device/uevent").empty(),
            .mtu = static_cast<int>(leading_value(read_line(folder + "/mtu"), 0)),
            .mbits_per_second = static_cast<int>(leading_value(read_line(folder + "/speed"), -1)),
            .driver = link_name(folder + "/device/driver"),
            .pci = link_name(folder + "/device"),
            .numa = static_cast<int>(leading_value(read_line(folder + "/device/numa_node"), -1))};
    for (const Interface& one : interfaces) {
      if (one.name == name) nic.addresses.push_back(without_port(to_string(one.address)));
    }
    nic.has_link_local = (table && has_link_local_v6(*table, name)) ||
                         std::any_of(nic.addresses.begin(), nic.addresses.end(),
                                     [](const auto& text) { return text.starts_with("169.254."); });
    nics.push_back(std::move(nic));
  }
  return nics;
}

std::string container_of(const std::string& root) {
  if (!names_or_none(root + "/var/run/secrets/kubernetes.io").empty()) return "kubernetes";
  const std::string group = read_line(root + "/proc/1/cgroup");
  for (const char* word : {"kubepods", "docker", "libpod", "containerd", "lxc", "slurm"}) {
    if (group.find(word) != std::string::npos) return word;
  }
  for (const std::string& name : names_or_none(root + "/run")) {
    if (name == ".containerenv") return "podman";
  }
  for (const std::string& name : names_or_none(root.empty() ? "/" : root)) {
    if (name == ".dockerenv") return "docker";
  }
  return {};
}

/// Adds what only the driver reports: links and compute capability. Devices are matched by bus id.
void add_driver(Machine& machine, NvmlDriver* nvml) {
  const bool has_nvidia = std::any_of(machine.gpus.begin(), machine.gpus.end(),
                                      [](const Gpu& gpu) { return gpu.vendor == "nvidia"; });
  if (nvml == nullptr) {
    if (machine.gpus.empty()) {
      machine.gpu_note = "none on the PCI bus, and no NVIDIA management library";
    } else if (has_nvidia) {
      machine.gpu_note = "libnvidia-ml.so.1 does not answer: NVLinks are not known";
    }
    return;
  }
  const Result<int> count = nvml->device_count();
  for (int device = 0; count && device < *count; ++device) {
    const Result<std::string> id = nvml->bus_id(device);
    if (!id) continue;
    std::string pci = lower_case(*id);  // 00000000:1B:00.0
    constexpr std::size_t kLongDomain = 16;
    if (pci.size() == kLongDomain) pci = pci.substr(4);
    auto gpu = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                            [&](const Gpu& one) { return one.pci == pci; });
    if (gpu == machine.gpus.end()) {
      gpu = machine.gpus.insert(gpu, {.pci = pci, .vendor = "nvidia"});
    }
    const Result<int> sm = nvml->compute_capability(device);
    if (sm) gpu->compute_capability = *sm;
    int links = 0;
    for (int link = 0; sm && link < max_nvlinks(*sm); ++link) {
      links += nvml->link_remote(device, link).has_value() ? 1 : 0;
    }
    gpu->nvlinks = links;
  }
}

}  // namespace

Result<Sources> sources_here() {
  Sources sources;
  sources.host = host_name("this host");
  utsname names{};
  if (::uname(&names) == 0) sources.kernel = fmt::format("{} {}", names.sysname, names.release);
  RINGSIDE_TRY(sources.interfaces, local_interfaces());
  sources.limits = {soft_limit(RLIMIT_MEMLOCK), soft_limit(RLIMIT_NOFILE)};
  sources.shm = shared_memory_at("/dev/shm");
  sources.variables = variables_here();
  list_firewall(sources);
  sources.backends = backends_here();
  sources.pytorch_text = output_of(pytorch_question()).value_or("");
  sources.verbs_library = verbs_library_here();
  return sources;
}

Machine read_machine(const Sources& sources) {
  const std::string& root = sources.root;
  Machine machine;
  machine.host = sources.host;
  machine.kernel = sources.kernel;
  machine.nvidia_driver = read_line(root + "/sys/module/nvidia/version");
  machine.is_open_driver =
      read_line(root + "/proc/driver/nvidia/version").find("Open Kernel Module") !=
      std::string::npos;
  read_pci(root, machine);
  add_driver(machine, sources.nvml);
  machine.nics = read_nics(root, sources.interfaces);
  machine.interfaces = sources.interfaces;
  machine.rdma = read_rdma(root);
  machine.verbs_nodes = read_verbs_nodes(root);
  machine.has_peer_memory = SystemFiles(root + "/sys").has_peer_memory();
  machine.has_gdrcopy = !names_or_none(root + "/sys/module/gdrdrv").empty();
  machine.shm = sources.shm;
  machine.limits = sources.limits;
  const std::string clock = root + "/sys/devices/system/clocksource/clocksource0/";
  machine.clock_source = read_line(clock + "current_clocksource");
  machine.clock_sources = words_of(read_line(clock + "available_clocksource"));
  const std::string huge = root + "/proc/sys/vm/nr_hugepages";
  machine.hugepages = static_cast<std::uint64_t>(leading_value(read_line(huge), 0));
  machine.hugepages_free = static_cast<std::uint64_t>(leading_value(
      read_line(root + "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"), 0));
  machine.container = container_of(root);
  machine.memory_limit = read_line(root + "/sys/fs/cgroup/memory.max");
  if (machine.memory_limit == "max") machine.memory_limit.clear();
  machine.firewall = sources.firewall_text
                         ? read_firewall(sources.firewall_source, *sources.firewall_text)
                         : Firewall{.source = sources.firewall_source};
  machine.variables = sources.variables;
  machine.backends = sources.backends;
  machine.pytorch = read_pytorch(sources.pytorch_text);
  machine.verbs_library = sources.verbs_library;
  return machine;
}

}  // namespace ringside::probe

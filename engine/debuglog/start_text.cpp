#include "engine/debuglog/start_text.h"

#include <fmt/format.h>

#include "base/append.h"

namespace ringside {
namespace {

constexpr std::string_view kNetLibrary = "libnccl-net.so";
constexpr std::string_view kNotFound =
    "libnccl-net.so: cannot open shared object file: No such file or directory";

/// Returns the newest version of the interface between NCCL and network plugins.
int net_interface_of(NcclVersion version) {
  if (version.is_before(12)) return 4;
  if (version.is_before(16)) return 5;
  if (version.is_before(19)) return 6;
  if (version.is_before(21)) return 7;
  if (version.is_before(23)) return 8;
  if (version.is_before(26)) return 9;
  return version.is_before(28) ? 10 : 11;
}

std::string socket_address(const NetInterface& interface) {
  return fmt::format("{}:{}<0>", interface.name, interface.address);
}

}  // namespace

std::string bootstrap_text(NcclVersion version, const NetInterface& interface) {
  if (version.is_before(8)) return "Bootstrap : Using [0]" + socket_address(interface);
  return (version.is_before(24) ? "Bootstrap : Using " : "Bootstrap: Using ") +
         socket_address(interface);
}

std::string driver_text(CudaVersion driver) {
  return fmt::format("cudaDriverVersion {}", driver.major * 1000 + driver.minor * 10);
}

std::string version_text(NcclVersion version) {
  const CudaVersion cuda = cuda_of(version);
  return fmt::format("NCCL version {}+cuda{}.{}", to_string(version), cuda.major, cuda.minor);
}

std::string stand_in_version_text(NcclVersion version, std::string_view stand_in) {
  return fmt::format("NCCL version {}+{}", to_string(version), stand_in);
}

/// Prints an invented hash, equal for equal releases: a generated log has no real one.
std::string git_version_text(NcclVersion version) {
  return fmt::format("NCCL git version stable {:07x}", version_code(version) * 5501);
}

std::string bootstrap_times_text(const BootstrapTimes& times) {
  return fmt::format(
      "Bootstrap timings total {:f} (create {:f}, send {:f}, recv {:f}, ring {:f}, delay {:f})",
      times.total, times.create, times.send, times.recv, times.ring, 0.0);
}

std::string env_echo_text(NcclVersion version, const EnvEcho& echo) {
  if (echo.name == "NCCL_IB_HCA") return fmt::format("NCCL_IB_HCA set to {}", echo.value);
  if (echo.name == "NCCL_P2P_DISABLE") {
    if (version.is_before(23)) return "NCCL_P2P_LEVEL set by environment to LOC";
    return fmt::format("NCCL_P2P_DISABLE set by environment to {}", echo.value);
  }
  return fmt::format("{} set by environment to {}{}", echo.name, echo.value,
                     echo.is_number ? "." : "");
}

std::vector<std::string> no_net_plugin_text(NcclVersion version) {
  if (version.is_before(17)) {
    return {"NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"};
  }
  if (version.is_before(19)) {
    return {fmt::format("NET/Plugin : Plugin load ({}) returned 2 : {}", kNetLibrary, kNotFound),
            "NET/Plugin : No plugin found, using internal implementation"};
  }
  if (version.is_before(21)) {
    return {
        fmt::format("NET/Plugin : dlerror={} No plugin found ({}), using internal "
                    "implementation",
                    kNotFound, kNetLibrary)};
  }
  if (version.is_before(22)) {
    return {fmt::format("NET/Plugin: No plugin found ({})", kNetLibrary),
            fmt::format("NET/Plugin: Plugin load returned 2 : {} : when loading {}", kNotFound,
                        kNetLibrary),
            "NET/Plugin: Using internal network plugin."};
  }
  if (version.is_before(26)) {
    return {
        fmt::format("NET/Plugin: Could not find: {}. Using internal network plugin.", kNetLibrary)};
  }
  return {fmt::format("NET/Plugin: Could not find: {}. ", kNetLibrary)};
}

std::vector<std::string> net_plugin_text(NcclVersion version, std::string_view name) {
  const int interface = net_interface_of(version);
  std::vector<std::string> lines;
  if (version.is_before(13)) {
    lines.push_back(
        fmt::format("NET/Plugin: Failed to find ncclCollNetPlugin_v{} symbol.", interface));
    return lines;
  }
  lines.push_back(fmt::format("NET/Plugin: Loaded net plugin {} (v{})", name, interface));
  if (version.is_before(28)) {
    lines.push_back(
        fmt::format("NET/Plugin: Failed to find ncclCollNetPlugin_v{} symbol.", interface));
  }
  if (version.is_from(27)) {
    lines.push_back(fmt::format("Successfully loaded external {}plugin {}",
                                version.is_before(28) ? "" : "network ", kNetLibrary));
  }
  return lines;
}

std::string broken_net_plugin_text(NcclVersion version, std::string_view reason) {
  if (version.is_before(21)) {
    return fmt::format("NET/Plugin : Plugin load ({}) returned 2 : {}", kNetLibrary, reason);
  }
  if (version.is_before(22)) {
    return fmt::format("NET/Plugin: Plugin load returned 2 : {} : when loading {}", reason,
                       kNetLibrary);
  }
  if (version.is_before(28)) return fmt::format("NET/Plugin: {}", reason);
  return fmt::format("NET/Plugin: {}: {}", kNetLibrary, reason);
}

std::string no_tuner_text(NcclVersion version) {
  if (version.is_before(26)) {
    return "TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.";
  }
  return "TUNER/Plugin: Could not find: libnccl-tuner.so";
}

std::string no_profiler_text(NcclVersion version) {
  if (version.is_before(29)) return "PROFILER/Plugin: Could not find: libnccl-profiler.so. ";
  return "PROFILER/Plugin: Could not find: libnccl-profiler.so";
}

std::string ib_devices_text(NcclVersion version, std::span<const Hca> hcas,
                            const NetInterface& oob) {
  std::string text = "NET/IB : Using";
  for (const Hca& hca : hcas) {
    append(text, " [{}]{}:{}/{}", hca.index, hca.name, hca.port, hca.is_ethernet ? "RoCE" : "IB");
  }
  text += version.is_before(12) ? " ; OOB " : " [RO]; OOB ";
  return text + socket_address(oob);
}

std::string ib_device_text(const Hca& hca) {
  return fmt::format(
      "NET/IB: [{0}] {1}:uverbs{0}:{2}/{3} provider=Mlx5 speed={4} context=0x7f31{0:x}c0020c0 "
      "pciPath={5} ar={6}",
      hca.index, hca.name, hca.port, hca.is_ethernet ? "RoCE" : "IB", hca.mbits_per_second,
      hca.pci_path, hca.is_ethernet ? 0 : 1);
}

std::string virtual_device_text(const Hca& hca) {
  return fmt::format("NET/IB : Made virtual device [{}] name={} speed={} ndevs=1", hca.index,
                     hca.name, hca.mbits_per_second);
}

std::string ib_no_device_text() { return "NET/IB : No device found."; }

std::string socket_interfaces_text(std::span<const NetInterface> interfaces) {
  std::string text = "NET/Socket : Using";
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    append(text, " [{}]{}", i, socket_address(interfaces[i]));
  }
  return text;
}

std::string socket_counts_text(int threads, int sockets_per_thread) {
  return fmt::format("NET/Socket: Using {} threads and {} sockets per thread", threads,
                     sockets_per_thread);
}

std::string initialized_net_text(std::string_view name) {
  return fmt::format("Initialized NET plugin {}", name);
}
std::string failed_net_text(std::string_view name) {
  return fmt::format("Failed to initialize NET plugin {}", name);
}
std::string assigned_net_text(std::string_view name) {
  return fmt::format("Assigned NET plugin {} to comm", name);
}
std::string using_network_text(std::string_view name) {
  return fmt::format("Using network {}", name);
}
std::string net_device_version_text() { return "Using non-device net plugin version 0"; }

std::string gdr_device_text(NcclVersion version, std::string_view network, const Hca& hca,
                            bool is_enabled) {
  if (version.is_before(13)) {
    return fmt::format("NET/{} : GPU Direct RDMA Disabled for HCA {} '{}' (no module)", network,
                       hca.index, hca.name);
  }
  return fmt::format("NET/{} : GPU Direct RDMA {} for HCA {} '{}'", network,
                     is_enabled ? "Enabled" : "Disabled", hca.index, hca.name);
}

std::string dma_buf_text(int dev) {
  return fmt::format("DMA-BUF is available on GPU device {}", dev);
}

std::vector<std::string> ofi_text(NcclVersion version, const OfiFacts& facts) {
  // Names the plugin's release that was current when the NCCL release was new.
  std::vector<std::string> lines;
  const std::string nics = fmt::format("(found {} nics)", facts.nics);
  if (version.is_before(18)) {
    lines.push_back("NET/OFI Using aws-ofi-nccl 1.7.1");
    lines.push_back(fmt::format("NET/OFI Selected Provider is {} {}", facts.provider, nics));
    return lines;
  }
  const std::string_view release = version.is_before(22)   ? "1.9.2"
                                   : version.is_before(27) ? "1.14.0"
                                                           : "1.17.1";
  lines.push_back(fmt::format("NET/OFI Initializing aws-ofi-nccl {}", release));
  lines.push_back("NET/OFI Using Libfabric version 1.22");
  lines.push_back(fmt::format("NET/OFI Using CUDA driver version {}",
                              cuda_of(version).major * 1000 + cuda_of(version).minor * 10));
  const bool is_efa = facts.provider == "efa";
  lines.push_back(fmt::format("NET/OFI Using transport protocol {}", is_efa ? "RDMA" : "SENDRECV"));
  if (version.is_before(27)) {
    lines.push_back(fmt::format("NET/OFI Selected Provider is {} {}", facts.provider, nics));
  } else {
    lines.push_back(fmt::format("NET/OFI Selected provider is {}, fabric is {} {}", facts.provider,
                                is_efa ? "efa-direct" : facts.provider, nics));
  }
  return lines;
}

}  // namespace ringside

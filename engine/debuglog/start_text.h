#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/debuglog/version.h"

/// The messages of a process before its first communicator, without prefix: one function per message, in the wording of
/// the version. "2.13+" names the versions that log a line.
/// source  docs/formats 1.4, 1.9, 2.2 .. 2.6
namespace ringside {

/// A network interface and one of its addresses.
struct NetInterface {
  std::string name;
  std::string address;  ///< "10.0.0.3"
};

std::string bootstrap_text(NcclVersion version, const NetInterface& interface);
std::string driver_text(CudaVersion driver);    ///< 2.13+
std::string version_text(NcclVersion version);  ///< "NCCL version 2.21.5+cuda12.4"
/// Returns the version line of a library that behaves and logs like that release: it names itself where NCCL names its
/// CUDA version.  "NCCL version 2.30.7+ringside0.1.0"
std::string stand_in_version_text(NcclVersion version, std::string_view stand_in);
std::string git_version_text(NcclVersion version);  ///< 2.29+

/// unit  seconds
struct BootstrapTimes {
  double total = 0, create = 0, send = 0, recv = 0, ring = 0;
};
std::string bootstrap_times_text(const BootstrapTimes& times);  ///< 2.23+

/// A variable whose value is logged.
struct EnvEcho {
  std::string_view name;
  std::string_view value;
  /// Whether NCCL reads the value as an integer: its line ends in a period.
  bool is_number = false;
};
std::string env_echo_text(NcclVersion version, const EnvEcho& echo);

/// Returns the lines that no external network plugin was found, which is normal if NCCL's own is used.
std::vector<std::string> no_net_plugin_text(NcclVersion version);

/// Returns the lines for a loaded external plugin.
/// name  as in `Using network`
std::vector<std::string> net_plugin_text(NcclVersion version, std::string_view name);

/// Returns the line for a plugin file that exists but cannot be loaded.
std::string broken_net_plugin_text(NcclVersion version, std::string_view reason);

std::string no_tuner_text(NcclVersion version);     ///< 2.21+
std::string no_profiler_text(NcclVersion version);  ///< 2.23+

/// An RDMA device as NCCL lists it.
struct Hca {
  std::string name;  ///< "mlx5_0"
  int index = 0;     ///< NCCL's own number, which `via NET/IB/<index>` names
  int port = 1;
  bool is_ethernet = false;  ///< RoCE
  int mbits_per_second = 0;
  std::string pci_path = {};  ///< in /sys
};
std::string ib_devices_text(NcclVersion version, std::span<const Hca> hcas,
                            const NetInterface& oob);
std::string ib_device_text(const Hca& hca);       ///< 2.27+, NET
std::string virtual_device_text(const Hca& hca);  ///< 2.24+, NET
std::string ib_no_device_text();
std::string socket_interfaces_text(std::span<const NetInterface> interfaces);
std::string socket_counts_text(int threads, int sockets_per_thread);

/// 2.27+: a network backend was initialized, failed, or was assigned to the communicator.
std::string initialized_net_text(std::string_view name);
std::string failed_net_text(std::string_view name);  ///< 2.28+
std::string assigned_net_text(std::string_view name);

std::string using_network_text(std::string_view name);
std::string net_device_version_text();  ///< 2.19 .. 2.23

/// Returns the line on a device's GPUDirect RDMA support. Up to 2.12 it is logged only if it is missing.
std::string gdr_device_text(NcclVersion version, std::string_view network, const Hca& hca,
                            bool is_enabled);
std::string dma_buf_text(int dev);  ///< 2.13+

/// aws-ofi-nccl over libfabric.
struct OfiFacts {
  std::string provider;  ///< "efa", "cxi"
  int nics = 0;
};
std::vector<std::string> ofi_text(NcclVersion version, const OfiFacts& facts);

}  // namespace ringside

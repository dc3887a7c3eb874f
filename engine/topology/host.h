#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The devices of one host, as in NCCL's topology XML (version 1). Every source of
/// hardware (the XML, hwloc, NVML, the presets) makes one of these, and everything else reads it.
///
/// Order   of elements is kept: where NCCL's search has a tie, the earlier element wins.
/// source  reference of the format: NCCL_TOPO_FILE / NCCL_TOPO_DUMP_FILE, graph/xml.cc
namespace ringside {

/// Maximum number of GPUs of one host, and of one NVLink domain.
/// source  NCCL 2.30.7: NCCL_MAX_LOCAL_RANKS
inline constexpr int kMaxGpusPerHost = 72;

/// A PCI address "dddddddd:bb:dd.f" without its separators: 0000:1b:00.0 is 0x1b000.
using BusId = std::int64_t;

/// PCI classes of the devices that NVLinks lead to.
/// source  NCCL 2.30.7 graph/topo.cc
inline constexpr std::uint32_t kGpuClass = 0x030200;  ///< or another 0x03....
inline constexpr std::uint32_t kNvSwitchClass = 0x068000;
inline constexpr std::uint32_t kPowerCpuClass = 0x068001;  ///< the bridge of a POWER9

/// Returns whether devices of that PCI class are GPUs.
constexpr bool is_gpu_class(std::uint64_t device_class) {
  return device_class >> 16 == kGpuClass >> 16;
}

/// The NVLinks from a GPU to one other device.
struct HostNvLink {
  std::string target;              ///< bus id of the device at the other end
  int count = 0;                   ///< links to it
  std::uint32_t target_class = 0;  ///< one of the above
};

/// The NVLink-C2C links of a GPU to its CPU.
struct HostC2c {
  int mbytes_per_second = 0;  ///< rate of one link in one direction
  int count = 0;
};

/// A GPU, below its PCI function.
struct HostGpu {
  int dev = 0;                   ///< NVML index
  int sm = 0;                    ///< compute capability, 10 x major + minor
  std::optional<int> rank = {};  ///< a GPU without one takes no part in the job
  bool gdr = false;
  int mlopart = -1;  ///< number of the partition if the GPU is partitioned; -1: whole GPU
  std::vector<HostNvLink> nvlinks = {};
  std::optional<HostC2c> c2c = {};
};

/// A port of a NIC, as NCCL's network plugin reports it.
struct HostNet {
  std::string name;
  std::string link = {};  ///< ib, roce, efa or tcp; empty: what the name suggests
  int dev = 0;
  double latency_us = 0;
  int mbits_per_second = 0;  ///< 0 or less: unknown
  int port = 1;
  std::uint64_t guid = 0;
  int max_connections = 65536;
  bool gdr = false;
  bool coll = false;  ///< the network reduces (SHARP)
  std::optional<int> rail = {};
  std::optional<int> plane = {};
};

/// A NIC with its ports.
struct HostNic {
  std::vector<HostNet> nets = {};
  /// For a NIC at a CPU: number of the CPU's PCI functions that precede it; -1: all
  int pci_before = -1;
};

/// A PCI function: a bridge or switch (children), a GPU or a NIC.
struct HostPci {
  std::string bus_id;
  std::uint32_t device_class = 0;
  std::string vendor = {}, device = {}, subsystem_vendor = {}, subsystem_device = {};  ///< "0x10de"
  std::string link_speed = {};  ///< "32.0 GT/s PCIe"; empty: unknown
  int link_width = 0;           ///< lanes; 0: unknown
  std::vector<HostPci> children = {};
  std::optional<HostGpu> gpu = {};
  std::optional<HostNic> nic = {};
  std::vector<std::string> peer_switches = {};  ///< <pcilink target=...>
};

/// A NUMA node, and the PCI functions below it.
struct HostCpu {
  int numa = 0;
  std::string affinity = {};  ///< hex groups, as /sys prints them
  std::string arch = {};      ///< x86_64, arm64, ppc64
  std::string vendor = {};    ///< GenuineIntel, AuthenticAMD, CentaurHauls, "  Shanghai  "
  int family = -1, model = -1;
  std::string lacks_family_at = {};  ///< FILE:LINE of an AMD <cpu> without familyid; else empty
  std::vector<HostPci> pci = {};
  std::vector<HostNic> nics = {};  ///< network devices without a PCI function
};

/// A host as NCCL's topology files describe it.
struct Host {
  std::string name;  ///< name of the file or preset, for messages
  std::vector<HostCpu> cpus = {};
};

/// Consecutive equal hosts.
struct HostRun {
  Host host;
  int count = 1;
};

/// The hosts of a job: runs of equal hosts, numbered in this order unless `order` is set.
struct JobHosts {
  std::vector<HostRun> runs = {};
  std::vector<int> order = {};  ///< [host]: index of its run; empty: the runs follow each other
  /// Number of consecutive hosts that form one NVLink domain, which is one node of the job.
  int hosts_per_nvl_domain = 1;
};

/// Returns the run that each host of the job belongs to.
std::vector<int> run_of_hosts(const JobHosts& hosts);

/// Returns the GPUs of the host that have a rank, in the order of the file.
std::vector<const HostGpu*> gpus_of(const Host& host);

}  // namespace ringside

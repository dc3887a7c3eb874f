#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/transport/rdma/rdma_ports.h"
#include "engine/transport/socket/interface.h"
#include "ringside/units.h"

/// The properties of a machine that matter for a job's communication, as plain data.
namespace ringside::probe {

/// A GPU on the PCI bus.
struct Gpu {
  std::string pci;     ///< 0000:1b:00.0
  std::string vendor;  ///< nvidia, amd
  std::string model = {};
  std::optional<int> compute_capability = {};  ///< 10 x major + minor
  /// Number of active links; none: NVML did not report it.
  std::optional<int> nvlinks = {};
  int numa = -1;
};

/// A network interface.
struct Nic {
  std::string name;
  bool is_up = false;       ///< switched on
  bool has_carrier = true;  ///< a cable or peer is connected
  bool is_virtual = false;  ///< has no device: a bridge, a veth, loopback
  int mtu = 0;
  int mbits_per_second = -1;  ///< -1: unknown
  std::string driver = {};
  std::string pci = {};
  int numa = -1;
  /// Without ports, and without IPv6 link-local addresses (see has_link_local).
  std::vector<std::string> addresses = {};
  bool has_link_local = false;
};

/// An RDMA port as the engine sees it, with details for engineers.
struct RdmaPort : ringside::RdmaPort {
  std::string physical = {};  ///< LinkUp, Polling, Disabled, ...
  std::string lid = {};
  std::string firmware = {};
  std::string netdev = {};
  std::string pci = {};
  std::map<std::string, std::uint64_t> counters = {};  ///< error counters above 0

  [[nodiscard]] double gigabits() const { return megabits / 1000.0; }
  [[nodiscard]] const char* link_layer() const { return is_ethernet ? "Ethernet" : "InfiniBand"; }
};

/// A device file of RDMA verbs: /dev/infiniband/uverbs0.
struct VerbsNode {
  std::string path;
  bool is_usable = false;  ///< may be read and written by this user
};

/// A PCI bridge whose ACS redirects peer-to-peer traffic to the root complex.
struct AcsBridge {
  std::string pci;
  unsigned control = 0;  ///< the ACS control register
};

struct Limits {                               ///< none: no limit
  std::optional<std::uint64_t> memlock = {};  ///< bytes
  std::optional<std::uint64_t> nofile = {};
};

/// /dev/shm.
struct SharedMemory {
  bool is_there = false;
  Bytes size = {}, free = {};
};

/// A rule that drops packets.
struct FirewallRule {
  std::string chain;  ///< inet filter input
  std::string rule;   ///< policy drop; tcp dport 5000 drop
};

/// The packet filter of the kernel.
struct Firewall {
  std::string source = {};  ///< nft or iptables; if none was read, the reason
  bool is_read = false;
  int rules = 0;
  std::vector<FirewallRule> drops = {};
};

/// A communication library that the loader may find.
struct Backend {
  std::string name;          ///< nccl, mpi, gloo
  std::string version = {};  ///< empty: not installed
  std::string from = {};     ///< its file, or the reason why it was not found
};

/// The PyTorch of `python3`.
struct PyTorch {
  std::string version = {};  ///< empty: not installed
  std::string python = {};   ///< the interpreter; without a version: why nothing is known
  /// All that PyTorch has in any build, and ringside. `version` is empty for those that this PyTorch lacks; `from` is then
  /// how to get it.
  std::vector<Backend> backends = {};
};

/// All that `probe` reads of a machine.
struct Machine {
  std::string host = {};
  std::string kernel = {};
  std::string nvidia_driver = {};  ///< empty: not loaded
  bool is_open_driver = false;
  std::string gpu_note = {};  ///< reason why GPUs or their links are not listed
  std::vector<Gpu> gpus = {};
  std::vector<Nic> nics = {};
  std::vector<Interface> interfaces = {};  ///< as the engine sees them
  std::vector<RdmaPort> rdma = {};
  std::vector<VerbsNode> verbs_nodes = {};
  /// File name of libibverbs, with its version; empty: not installed.
  std::string verbs_library = {};
  bool has_peer_memory = false;  ///< nvidia_peermem
  bool has_gdrcopy = false;
  std::string acs_note = {};  ///< reason why ACS could not be read
  std::vector<AcsBridge> acs = {};
  /// Domain type by PCI address of GPUs and NICs: DMA, DMA-FQ, identity.
  std::map<std::string, std::string> iommu = {};
  SharedMemory shm = {};
  Limits limits = {};
  std::string clock_source = {};
  std::vector<std::string> clock_sources = {};  ///< that the kernel supports
  std::uint64_t hugepages = 0, hugepages_free = 0;
  std::string container = {};     ///< docker, kubernetes, ...; empty: not detected
  std::string memory_limit = {};  ///< limit of the cgroup, unparsed; empty: none
  Firewall firewall = {};
  std::map<std::string, std::string> variables = {};  ///< NCCL_*, GLOO_*, ...
  std::vector<Backend> backends = {};
  PyTorch pytorch = {};
};

}  // namespace ringside::probe

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/transport/rdma/rdma_ports.h"
#include "engine/transport/socket/interface.h"
#include "ringside/units.h"

/// What a machine has that a job's communication depends on, as plain data.
namespace ringside::probe {

struct Gpu {
  std::string pci;     ///< 0000:1b:00.0
  std::string vendor;  ///< nvidia, amd
  std::string model = {};
  std::optional<int> compute_capability = {};  ///< 10 x major + minor
  std::optional<int> nvlinks = {};             ///< that are up; none: NVML did not report it
  int numa = -1;
};

struct Nic {
  std::string name;
  bool is_up = false;       ///< switched on
  bool has_carrier = true;  ///< and something is at the other end
  bool is_virtual = false;  ///< no device of its own: a bridge, a veth, loopback
  int mtu = 0;
  int mbits_per_second = -1;  ///< -1: unknown
  std::string driver = {};
  std::string pci = {};
  int numa = -1;
  std::vector<std::string> addresses =
      {};  ///< without ports; link-local ones of IPv6 are marked below
  bool has_link_local = false;
};

/// As the engine sees it, and what only an engineer asks for.
struct RdmaPort : ringside::RdmaPort {
  std::string physical = {};  ///< LinkUp, Polling, Disabled, ...
  std::string lid = {};
  std::string firmware = {};
  std::string netdev = {};
  std::string pci = {};
  std::map<std::string, std::uint64_t> counters = {};  ///< of errors; those above 0

  [[nodiscard]] double gigabits() const { return megabits / 1000.0; }
  [[nodiscard]] const char* link_layer() const { return is_ethernet ? "Ethernet" : "InfiniBand"; }
};

struct VerbsNode {
  std::string path;
  bool is_usable = false;  ///< may be read and written by this user
};

/// A PCI bridge whose access control sends peer-to-peer traffic up to the root.
struct AcsBridge {
  std::string pci;
  unsigned control = 0;  ///< the ACS control register
};

struct Limits {                               ///< nothing: no limit
  std::optional<std::uint64_t> memlock = {};  ///< bytes
  std::optional<std::uint64_t> nofile = {};
};

struct SharedMemory {
  bool is_there = false;
  Bytes size = {}, free = {};
};

/// A rule that lets packets vanish.
struct FirewallRule {
  std::string chain;  ///< inet filter input
  std::string rule;   ///< policy drop; tcp dport 5000 drop
};

struct Firewall {
  std::string source = {};  ///< nft, iptables; why none was read
  bool is_read = false;
  int rules = 0;
  std::vector<FirewallRule> drops = {};
};

struct Backend {
  std::string name;          ///< nccl, mpi, gloo
  std::string version = {};  ///< empty: it is not there
  std::string from = {};     ///< the file; or why not
};

struct Machine {
  std::string host = {};
  std::string kernel = {};
  std::string nvidia_driver = {};  ///< empty: none is loaded
  bool is_open_driver = false;
  std::string gpu_note = {};  ///< why GPUs, or their links, are not listed
  std::vector<Gpu> gpus = {};
  std::vector<Nic> nics = {};
  std::vector<Interface> interfaces = {};  ///< as the engine sees them
  std::vector<RdmaPort> rdma = {};
  std::vector<VerbsNode> verbs_nodes = {};
  std::string verbs_library = {};  ///< the file of libibverbs, which has its version; empty: none
  bool has_peer_memory = false;    ///< nvidia_peermem
  bool has_gdrcopy = false;
  std::string acs_note = {};  ///< why ACS could not be read
  std::vector<AcsBridge> acs = {};
  std::map<std::string, std::string> iommu =
      {};  ///< by PCI address of GPUs and NICs: DMA, DMA-FQ, identity
  SharedMemory shm = {};
  Limits limits = {};
  std::string clock_source = {};
  std::vector<std::string> clock_sources = {};  ///< that the kernel offers
  std::uint64_t hugepages = 0, hugepages_free = 0;
  std::string container = {};     ///< docker, kubernetes, ...; empty: no hint of one
  std::string memory_limit = {};  ///< of the cgroup, as it is written; empty: none
  Firewall firewall = {};
  std::map<std::string, std::string> variables = {};  ///< NCCL_*, GLOO_*, ...
  std::vector<Backend> backends = {};
};

}  // namespace ringside::probe

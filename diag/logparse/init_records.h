#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of the lines that NCCL and RCCL print while they create a communicator. A number that the line lacks is -1
/// (0 for pointers and ids); an absent text is empty.
/// source  docs/formats 1.4, 1.9, 2.2 to 2.6, 2.10, 2.11
namespace ringside::logs {

/// The library that printed a line.
enum class Library : std::uint8_t { Nccl, Rccl };

/// A line that states the library's version.
struct LibraryVersion {
  static constexpr RecordKind kKind = RecordKind::LibraryVersion;
  Library library = Library::Nccl;
  bool is_of_benchmark = false;  ///< from nccl-tests' header: a number without the build
  std::int32_t code = 0;         ///< 2.19.3 is 21903
  std::string_view text;         ///< `2.19.3+cuda12.3`
  std::string_view toolkit;      ///< `12.3`: the CUDA or HIP version of the build
};

/// Returns the library version inside a text, `NCCL error in: .., NCCL version 2.19.3` or `RCCL 2.20.5`; empty if there
/// is none.
std::string_view library_version_in(std::string_view text);

/// A line that states the value of a variable. The final period after an integer is removed from `value`.
struct Environment {
  static constexpr RecordKind kKind = RecordKind::Environment;
  enum class How : std::uint8_t {
    Set,      ///< a library read it
    Invalid,  ///< a library refused the value
    Ignored,  ///< a library does not use it
    Config,   ///< `Comm config <name> set to <value>`
    Shell     ///< `export NCCL_X=y`, `+ NCCL_X=y`: a script set it; the reader is unknown
  };
  How how = How::Set;
  bool is_integer = false;  ///< the final period was there: read as an integer
  std::string_view name;    ///< `NCCL_IB_DISABLE`
  std::string_view value;
};

/// `NET/<net> : Using <list>`. Read the list with NetDeviceCursor.
struct NetDevices {
  static constexpr RecordKind kKind = RecordKind::NetDevices;
  bool relaxed_ordering = false;  ///< `[RO]`
  bool none_found = false;        ///< `No device found.`
  std::string_view net;           ///< `IB`, `Socket`, `FastSocket`
  std::string_view list;          ///< `[0]mlx5_0:1/IB [1]mlx5_1:1/IB`
  std::string_view oob;           ///< `eth0:10.1.0.1<0>`
};

/// `Using network <name>`, per communicator.
struct NetworkInUse {
  static constexpr RecordKind kKind = RecordKind::NetworkInUse;
  std::string_view name;  ///< `IB`, `Socket`, `AWS Libfabric`, `IBext_v8`, ...
};

/// `Bootstrap : Using eth0:10.0.0.1<0>`
struct BootstrapInterface {
  static constexpr RecordKind kKind = RecordKind::BootstrapInterface;
  std::string_view interface;  ///< `eth0`; the plugin's name where it carries the bootstrap
  std::string_view address;    ///< `10.0.0.1`, `fe80::1`
};

/// The stages of a communicator's life that have a line.
enum class CommEventType : std::uint8_t {
  InitStart,
  InitComplete,
  DestroyStart,
  DestroyComplete,
  AbortStart,
  AbortComplete,
  RevokeStart,
  RevokeComplete,
  FinalizeStart,
  FinalizeComplete
};

/// A step in the life of a communicator on one rank: `comm 0x.. rank .. - Init COMPLETE`.
struct CommEvent {
  static constexpr RecordKind kKind = RecordKind::CommEvent;
  CommEventType event = CommEventType::InitComplete;
  bool is_rccl = false;  ///< the line ends as RCCL's do
  std::int16_t cuda_device = -1;
  std::int16_t nvml_device = -1;
  std::int32_t rank = -1;
  std::int32_t nranks = -1;
  std::int32_t color = -1;  ///< ncclCommSplit
  std::int32_t key = -1;
  std::int32_t child = -1;  ///< splitCount or childCount
  std::uint64_t comm = 0;   ///< pointer: unique in its process, while it lives
  std::uint64_t parent = 0;
  std::uint64_t comm_id = 0;  ///< equal on all ranks; 0 before 2.16 and for splits from 2.23
  std::int64_t bus_id = -1;   ///< (domain << 20) | (bus << 12) | (device << 4) | function
  std::string_view function;  ///< `ncclCommInitRank`; empty up to 2.20
};

/// `comm 0x.. rank .. nRanks .. nNodes ..`
struct CommNodes {
  static constexpr RecordKind kKind = RecordKind::CommNodes;
  std::uint64_t comm = 0;
  std::int32_t rank = -1;
  std::int32_t nranks = -1;
  std::int32_t nnodes = -1;
  std::int32_t local_ranks = -1;
  std::int32_t local_rank = -1;
  std::int32_t mnnvl = -1;
};

/// `Init timings - ...`, in seconds.
struct InitTimings {
  static constexpr RecordKind kKind = RecordKind::InitTimings;
  std::int32_t rank = -1;
  std::int32_t nranks = -1;
  float total = -1, kernels = -1, alloc = -1, bootstrap = -1, allgathers = -1, topo = -1;
  float graphs = -1, connections = -1, rest = -1;
  std::string_view function;
};

/// `Bootstrap timings total ...`, in seconds.
struct BootstrapTimings {
  static constexpr RecordKind kKind = RecordKind::BootstrapTimings;
  float total = -1, create = -1, send = -1, recv = -1, ring = -1, delay = -1;
};

/// `16 coll channels, ...`
struct ChannelCounts {
  static constexpr RecordKind kKind = RecordKind::ChannelCounts;
  std::int32_t coll = -1, collnet = -1, nvls = -1, p2p = -1, p2p_per_peer = -1;
};

/// `NET/IB : GPU Direct RDMA Enabled for HCA ...`
struct GdrOfHca {
  static constexpr RecordKind kKind = RecordKind::GdrOfHca;
  bool is_enabled = false;
  bool is_module_missing = false;  ///< `(no module)`
  std::int32_t hca = -1;           ///< index
  std::string_view net;            ///< `IB`, `Socket`, a plugin's name
  std::string_view name;           ///< `mlx5_0`
  std::string_view reason;         ///< `nvidia-peermem`, `DMABUF`, or empty
};

/// `GPU Direct RDMA Enabled for GPU .. / HCA ..`
struct GdrOfPair {
  static constexpr RecordKind kKind = RecordKind::GdrOfPair;
  bool is_enabled = false;
  std::int8_t read = -1;
  std::int16_t distance = -1;  ///< PATH numbers; their meaning changes with the version
  std::int16_t limit = -1;
  std::int32_t rank = -1;  ///< 2.29
  std::string_view gpu;    ///< a bus id, a rank or `<system>-<local>`, by version
  std::string_view hca;
};

/// One entry of NetDevices::list.
struct NetDevice {
  /// Index in `via NET/IB/<index>`; in a merged NIC the index of the part
  std::int32_t index = -1;
  std::int32_t merged = -1;  ///< index of the merged NIC that contains it; -1: none
  std::string_view name;     ///< `mlx5_0`; an interface for Socket
  std::int32_t port = -1;
  std::string_view rail;  ///< 2.30
  std::string_view plane;
  std::string_view link;  ///< `IB`, `RoCE`; the address for Socket
};

/// Iterates over NetDevices::list:  for (NetDeviceCursor at(devices); at.next(device);)
/// next() returns false at the end and at an incomplete entry.
class NetDeviceCursor {
 public:
  explicit NetDeviceCursor(const NetDevices& devices) : rest_(devices.list) {}
  bool next(NetDevice& device);

 private:
  std::string_view rest_;
  std::int32_t merged_ = -1;
};

}  // namespace ringside::logs

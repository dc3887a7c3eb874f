#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/device/gpu_direct.h"
#include "engine/cuda/device/lay_out.h"
#include "engine/cuda/links/proxy.h"
#include "engine/cuda/links/switch_links.h"
#include "engine/runtime/host/connect.h"

namespace ringside {

class Bootstrap;

/// The connections of a rank whose launches contain the blocks of this rank alone. The slots of a connection are:
///
///   peer on this host           in memory of the receiver's GPU, if the sender can open it (MemoryAccess); else in the
///                               pages that both map for a connection over shm, which kernels can access too
///   other host, or without shm  on each side in the rank's GPU, if an RDMA adapter can access it; else in pinned
///                               memory of the process. A proxy (proxy.h) notifies the connection's end of filled
///                               slots, and kernels of received ones; if the end has its own slots, the proxy copies
///   this rank itself            in its GPU's memory
///
/// Ordering   as Connections
/// Threads    one at a time; any thread may call abort()
/// Ownership  the memory outlives it
class ProcessLinks final : public DeviceLinks {
 public:
  /// Every rank calls it at the same time.
  /// transport  transport between ranks; null: the fastest available
  /// faults     faults of connections that a proxy serves; for a fault of another connection, connect() returns
  ///            Unsupported. Its plan outlives the links
  /// errors     Unsupported: this GPU's memory does not support the settings.  As Connections::make() and
  ///            Bootstrap::all_gather()
  static Result<std::unique_ptr<ProcessLinks>> make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                    const Transport* transport,
                                                    const MemorySettings& settings,
                                                    Deadline deadline,
                                                    const LinkFaults& faults = {});
  ~ProcessLinks() override;

  [[nodiscard]] bool has_all(std::span<const ConnectionId> ids,
                             std::span<const SwitchName> switches) const;

  /// Makes connections like Connections::connect().
  /// errors  as Connections::connect(); System: the GPU's driver failed
  Status connect(std::span<const ConnectionId> wanted, Deadline deadline);

  /// Makes the slots of groups behind a switch, whose connections exist, by SwitchLinks::connect().
  /// shape   has_switch()
  /// errors  as SwitchLinks::connect()
  Status connect_switches(std::span<const SwitchName> wanted, Deadline deadline);
  Result<SwitchSlots> slots_of(const SwitchName& name, Rank /*me*/) override {
    return switches_.slots_of(name);
  }

  /// shape  connect() has made the connection, and this rank is one of its ends
  Result<DeviceEnd> end_of(const ConnectionId& id, bool receives) override;
  [[nodiscard]] int slots() const override { return kSlots; }

  /// Shares a block of this rank's memory with the ranks that can open it, and opens theirs. Every rank calls it at the
  /// same time.
  /// mine     as for DeviceMemory::share()
  /// shares   [rank]: 1 if the rank shares memory, including this one
  /// number   a number that no earlier call had; equal on all ranks
  /// returns  [rank]: this process's address of that rank's memory; null: it shares none, or cannot be opened
  /// errors   as connect()
  Result<std::vector<std::byte*>> exchange_memory(std::byte* mine,
                                                  std::span<const std::byte> shares,
                                                  std::uint32_t number, Deadline deadline);
  /// Returns whether other ranks can open this memory of this rank's GPU.
  [[nodiscard]] bool can_share(std::byte* memory) const;

  /// Returns whether one of `ids` has a proxy.
  [[nodiscard]] bool has_proxies(std::span<const ConnectionId> ids) const;
  /// Returns the proxies of all connections.
  [[nodiscard]] std::vector<Proxy*> proxies() const;

  /// Returns the progress of what kernels have sent and received, as Connections::progress(). Bytes are not counted;
  /// connections that the device does not report are omitted. Threads  any
  [[nodiscard]] std::vector<Connections::Progress> progress() const;

  /// Returns the types of the connections, as text ("tcp, slots in place"), and how many there are of each.
  [[nodiscard]] std::map<std::string, int> connection_types() const;

  /// Returns those of `ids` whose slots are sent over a connection of connections(), by their ids in connections().
  /// shape  as end_of()
  [[nodiscard]] std::vector<ConnectionId> carried(std::span<const ConnectionId> ids) const;
  [[nodiscard]] const Connections& connections() const { return *connections_; }

  /// Returns whether every two ranks share memory of GPUs over paths that keep LL128's lines whole. Equal on all ranks.
  [[nodiscard]] bool keeps_lines() const { return keeps_lines_; }
  /// Returns whether a switch joins memory of the GPUs of each node, with one GPU for each rank. Equal on all ranks.
  [[nodiscard]] bool has_switch() const { return has_switch_; }
  /// Returns the largest number of ranks that share a GPU; 1 if no rank shares its GPU. Equal on all ranks.
  [[nodiscard]] int ranks_per_gpu() const;
  [[nodiscard]] const HostLayout& layout() const { return connections_->layout(); }

  void abort() noexcept { connections_->abort(); }

 private:
  struct Link {
    std::byte* fifo = nullptr;      ///< the DeviceFifo's address for kernels
    std::byte* cpu_fifo = nullptr;  ///< its address for the CPU; null: the CPU cannot access it
    std::byte* slots = nullptr;     ///< null: the slots follow the counters at `fifo`
    std::unique_ptr<Proxy> proxy = {};
    std::string type = {};  ///< as in connection_types()
  };
  ProcessLinks(Bootstrap& bootstrap, DeviceMemory& memory, const GpuDirectSettings& direct,
               std::unique_ptr<Connections> connections, const LinkFaults& faults);
  Status gather_reach(const MemorySettings& settings, Deadline deadline);
  /// Returns whether rank id.from can open memory of the GPU of rank id.to, where the slots then are.
  [[nodiscard]] bool sender_opens_slots(const ConnectionId& id) const;
  /// Returns the id of the host connection whose pages, if it has any, also hold a DeviceFifo's counters next to its
  /// slots.
  [[nodiscard]] ConnectionId host_id(ConnectionId id) const;
  [[nodiscard]] bool find_switch() const;
  [[nodiscard]] const TransportEnd& end_between(const ConnectionId& id) const;
  struct Opened {
    std::byte* memory = nullptr;
    MemoryAccess access = MemoryAccess::None;
  };
  /// Writes the description of `memory` into the connection's pages, for the sender's accept().
  Result<MemoryAccess> offer(const ConnectionId& id, std::byte* memory, Deadline deadline);
  /// Waits for the receiver's offer(), and opens the memory that it describes.
  Result<Opened> accept(const ConnectionId& id, Deadline deadline);
  /// Uses the connection's pages in host memory for its slots.
  Status map(const ConnectionId& id, std::span<std::byte> pages);
  void add(const ConnectionId& id, Link link);
  [[nodiscard]] Status check_fault(const ConnectionId& id) const;
  /// Returns the buffers that an end of `connections_` may use for its slots: Joint::lent.
  Result<LentOffers> lend(const ConnectionId& id, bool receives);
  Status make_proxy(const ConnectionId& id);

  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  const GpuDirectSettings direct_;
  const LinkFaults faults_;
  const std::unique_ptr<Connections> connections_;
  std::vector<DevicePlace> places_;                      ///< [rank]
  MemoryAccess between_processes_ = MemoryAccess::None;  ///< equal on all ranks
  std::vector<std::byte> reach_;  ///< [from][to]: not 0 if `from` can open memory of `to`'s GPU
  bool keeps_lines_ = false;
  bool has_switch_ = false;
  SwitchLinks switches_;
  std::map<ConnectionId, std::byte*> lent_;  ///< slots that connect() has lent to ends
  std::set<const Transport*> refused_by_;    ///< transports that could not access the GPU's memory
  std::vector<std::span<std::byte>> mapped_;
  mutable std::mutex
      mutex_;  ///< connect() changes links_ with it, and progress() reads links_ on any thread
  std::map<ConnectionId, Link> links_;
};

}  // namespace ringside

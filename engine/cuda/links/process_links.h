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

/// The connections of a rank whose kernels are launched for this rank alone. Where the slots of one lie:
///
///   the peer is on this host    in memory of the receiver's GPU, where the sender can open it (MemoryWay); else in the
///                               pages that a connection over shm has both map, which kernels see as well
///   elsewhere, or not over shm  on each side in the rank's GPU, where an RDMA adapter reaches it; else in pinned memory of
///                               its process. A proxy notifies the connection's end of slots that are full, and kernels of
///                               those that have come; an end that has slots of its own it copies to, and from (proxy.h)
///   this rank itself            in its GPU's memory
///
/// Ordering   as Connections
/// Threads    one at a time; any thread calls abort()
/// Ownership  the memory outlives it
class ProcessLinks final : public DeviceLinks {
 public:
  /// Every rank calls it at the same time.
  /// transport  between ranks; null: the fastest that there is
  /// faults     of connections that a proxy serves; connect() refuses those of others. Its plan outlives them
  /// errors     Unsupported: this GPU's memory does not allow the settings.  As Connections::make() and
  ///            Bootstrap::all_gather()
  static Result<std::unique_ptr<ProcessLinks>> make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                    const Transport* transport,
                                                    const MemorySettings& settings,
                                                    Deadline deadline,
                                                    const LinkFaults& faults = {});
  ~ProcessLinks() override;

  [[nodiscard]] bool has_all(std::span<const ConnectionId> ids,
                             std::span<const SwitchName> switches) const;

  /// As Connections::connect(). errors  as there; System: of the GPU's driver
  Status connect(std::span<const ConnectionId> wanted, Deadline deadline);

  /// Slots of groups behind a switch, whose connections are there: as SwitchLinks::connect().
  /// shape  has_switch()
  Status connect_switches(std::span<const SwitchName> wanted, Deadline deadline);
  Result<SwitchSlots> slots_of(const SwitchName& name, Rank /*me*/) override {
    return switches_.slots_of(name);
  }

  /// shape  it has been connected, from or to this rank
  Result<DeviceEnd> end_of(const ConnectionId& id, bool receives) override;
  [[nodiscard]] int slots() const override { return kSlots; }

  /// Lets the ranks that can open memory of this one's GPU open some of it, and opens theirs. Every rank calls it at the
  /// same time, for a number that it has not been called for.
  /// mine     what DeviceMemory::share() takes
  /// shares   [rank] 1: it has such memory; this rank, too
  /// returns  [rank]: where it lies here; null: it has none, or cannot be opened
  /// errors   as connect()
  Result<std::vector<std::byte*>> exchange_memory(std::byte* mine,
                                                  std::span<const std::byte> shares,
                                                  std::uint32_t number, Deadline deadline);
  /// Whether other ranks open memory of this one's GPU, and this is some that they can open.
  [[nodiscard]] bool can_share(std::byte* memory) const;

  /// Whether one of `ids` has a proxy.
  [[nodiscard]] bool has_proxies(std::span<const ConnectionId> ids) const;
  /// All that there are.
  [[nodiscard]] std::vector<Proxy*> proxies() const;

  /// As Connections::progress(), of what kernels have sent and received. Bytes are not counted; connections that the device does
  /// not report are omitted.
  /// Threads  any
  [[nodiscard]] std::vector<Connections::Progress> progress() const;

  /// How the connections are made, for people: "tcp, slots in place" and how many are.
  [[nodiscard]] std::map<std::string, int> ways() const;

  /// Those of `ids` whose slots go over a connection of connections(), as it names them.
  /// shape  as end_of()
  [[nodiscard]] std::vector<ConnectionId> carried(std::span<const ConnectionId> ids) const;
  [[nodiscard]] const Connections& connections() const { return *connections_; }

  /// Whether every two ranks share memory of GPUs, by ways that keep LL128's lines whole. All ranks come to the same.
  [[nodiscard]] bool keeps_lines() const { return keeps_lines_; }
  /// Whether a switch joins memory of the GPUs of each node, one GPU a rank. All ranks come to the same.
  [[nodiscard]] bool has_switch() const { return has_switch_; }
  /// Ranks that use the same GPU, on the GPU that most ranks use; 1 where no rank shares its GPU. Equal on all ranks.
  [[nodiscard]] int ranks_per_gpu() const;
  [[nodiscard]] const HostLayout& layout() const { return connections_->layout(); }

  void abort() noexcept { connections_->abort(); }

 private:
  struct Link {
    std::byte* fifo = nullptr;   ///< as kernels see it
    std::byte* seen = nullptr;   ///< the same as processors do; null: they do not
    std::byte* slots = nullptr;  ///< where these lie elsewhere; else null
    std::unique_ptr<Proxy> proxy = {};
    std::string way = {};
  };
  ProcessLinks(Bootstrap& bootstrap, DeviceMemory& memory, const GpuDirectSettings& direct,
               std::unique_ptr<Connections> connections, const LinkFaults& faults);
  Status gather_reach(const MemorySettings& settings, Deadline deadline);
  [[nodiscard]] bool opens(const ConnectionId& id) const;
  /// The connection whose pages, where it has some, have room for a DeviceFifo: next to its slots, for counters.
  [[nodiscard]] ConnectionId host_id(ConnectionId id) const;
  [[nodiscard]] bool find_switch() const;
  [[nodiscard]] const TransportEnd& end_between(const ConnectionId& id) const;
  struct Opened {
    std::byte* memory = nullptr;
    MemoryWay way = MemoryWay::None;
  };
  Result<MemoryWay> offer(const ConnectionId& id, std::byte* memory, Deadline deadline);
  Result<Opened> accept(const ConnectionId& id, Deadline deadline);
  Status map(const ConnectionId& id, std::span<std::byte> pages);
  void add(const ConnectionId& id, Link link);
  [[nodiscard]] Status check_fault(const ConnectionId& id) const;
  Result<LentOffers> lend(const ConnectionId& id, bool receives);
  Status make_proxy(const ConnectionId& id);

  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  const GpuDirectSettings direct_;
  const LinkFaults faults_;
  const std::unique_ptr<Connections> connections_;
  std::vector<DevicePlace> places_;                ///< [rank]
  MemoryWay between_processes_ = MemoryWay::None;  ///< of all ranks alike
  std::vector<std::byte> reach_;  ///< [from][to]: not 0 where `from` opens memory of `to`'s GPU
  bool keeps_lines_ = false;
  bool has_switch_ = false;
  SwitchLinks switches_;
  std::map<ConnectionId, std::byte*> lent_;  ///< what connect() has lent to ends
  std::set<const Transport*> refusing_;      ///< an end of which has not taken the GPU's memory
  mutable std::mutex mutex_;                 ///< guards the next against observers
  std::map<ConnectionId, Link> links_;
  std::vector<std::span<std::byte>> mapped_;
};

}  // namespace ringside

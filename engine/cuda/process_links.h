#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/lay_out.h"
#include "engine/cuda/proxy.h"
#include "engine/runtime/connect.h"

namespace ringside {

class Bootstrap;

/// The connections of a rank whose kernels are launched for this rank alone. Where the slots of one lie:
///
///   the peer is on this host    in memory of the receiver's GPU, where the sender can open it (MemoryWay); else in the
///                               pages that a connection over shm has both map, which kernels see as well
///   elsewhere, or not over shm  in pinned memory of this process: a proxy takes slots from there to the connection's
///                               end, and back (proxy.h)
///   this rank itself            in its GPU's memory
///
/// Ordering   as Connections
/// Threads    one at a time; any thread calls abort()
/// Ownership  the memory outlives it
class ProcessLinks final : public DeviceLinks {
 public:
  /// Every rank calls it at the same time.
  /// transport  between ranks; null: the fastest that there is
  /// errors     Unsupported: this GPU's memory cannot be had as it is wished.  As Connections::make() and
  ///            Bootstrap::all_gather()
  static Result<std::unique_ptr<ProcessLinks>> make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                    const Transport* transport,
                                                    const MemoryWish& wish, Deadline deadline);
  ~ProcessLinks() override;

  [[nodiscard]] bool has_all(std::span<const ConnectionId> ids) const;

  /// As Connections::connect(). errors  as there; System: of the GPU's driver
  Status connect(std::span<const ConnectionId> wanted, Deadline deadline);

  /// shape  it has been connected, from or to this rank
  Result<DeviceEnd> end_of(const ConnectionId& id, bool receives) override;
  [[nodiscard]] int slots() const override { return kSlots; }

  /// Whether one of `ids` has a proxy.
  [[nodiscard]] bool has_proxies(std::span<const ConnectionId> ids) const;
  /// All that there are.
  [[nodiscard]] std::vector<Proxy*> proxies() const;

  /// Whether every two ranks share memory of GPUs, where LL128's lines are whole. All ranks come to the same.
  [[nodiscard]] bool keeps_lines() const { return keeps_lines_; }
  [[nodiscard]] const HostLayout& layout() const { return connections_->layout(); }

  void abort() noexcept { connections_->abort(); }

 private:
  ProcessLinks(Bootstrap& bootstrap, DeviceMemory& memory,
               std::unique_ptr<Connections> connections);
  Status gather_reach(const MemoryWish& wish, Deadline deadline);
  [[nodiscard]] bool opens(const ConnectionId& id) const;
  Status offer(const ConnectionId& id, const TransportEnd& end, Deadline deadline);
  Status accept(const ConnectionId& id, const TransportEnd& end, Deadline deadline);
  Status map(const ConnectionId& id, std::span<std::byte> pages);
  Status make_proxy(const ConnectionId& id);

  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  const std::unique_ptr<Connections> connections_;
  std::vector<DevicePlace> places_;                ///< [rank]
  MemoryWay between_processes_ = MemoryWay::None;  ///< of all ranks alike
  std::vector<std::byte> reach_;  ///< [from][to]: 1 where `from` opens memory of `to`'s GPU
  bool keeps_lines_ = false;
  std::map<ConnectionId, std::byte*> fifos_;
  std::map<ConnectionId, std::unique_ptr<Proxy>> proxies_;
  std::vector<std::span<std::byte>> mapped_;
};

}  // namespace ringside

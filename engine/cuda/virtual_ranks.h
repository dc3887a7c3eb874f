#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/cuda/device/lay_out.h"
#include "engine/cuda/device_traffic.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// Ranks that share one GPU, all in one process. Each call is one launch with the blocks of all ranks, so that no
/// rank's kernel waits for one that has not started. Connections outlive calls.
///
/// Threads    one at a time
/// Ownership  the memory outlives this object, and keeps its plans until the memory is destroyed
class VirtualRanks {
 public:
  struct Options {
    Nanoseconds timeout{std::chrono::seconds(60)};
    int warps_per_strand = 0;  ///< 0: as many as the call has work for
    std::uint32_t events = 0;  ///< as DeviceCallShape::events
    /// Simple: messages that receivers would only copy are stored directly into their outputs.
    bool stores_directly = true;
  };

  /// A planned call of all ranks. It may be launched repeatedly, on any buffers.
  struct Plan {
    Choice choice;
    std::vector<std::vector<ChannelTask>> tasks;  ///< [rank][channel]
    std::vector<std::optional<ReduceOp>> ops;     ///< [rank]
    /// [rank][channel]; none are stored directly: empty
    std::vector<std::vector<DirectStores>> direct;
    std::vector<DeviceRank> ranks;
    DeviceGrid grid;

    /// Returns the launch with these buffers, [rank].
    [[nodiscard]] DeviceLaunch launch(std::span<const DeviceBuffers> buffers) const;
    /// Returns the bytes that a launch moves for all ranks together.
    [[nodiscard]] DeviceTraffic traffic(Bytes element) const;
  };

  /// control      in shared memory of the device
  /// connections  for tests with switches; null: the default ones
  VirtualRanks(DeviceMemory& memory, DeviceControl* control, int nranks, int slots = kSlots,
               std::unique_ptr<DeviceConnections> connections = nullptr)
      : memory_(memory),
        control_(control),
        nranks_(nranks),
        connections_(connections != nullptr ? std::move(connections)
                                            : std::make_unique<DeviceConnections>(memory, slots)) {}

  /// calls   [rank]; they may differ in fields that are per rank (scalar, transfers)
  /// errors  as plan_channels(), make_reduce_op(), lay_out()
  Result<std::unique_ptr<Plan>> plan(std::span<const CollectiveCall> calls, const Choice& choice,
                                     const Options& options);

  /// Returns how the last launch of a plan ended.
  /// returns, errors  as outcome_of()
  Result<std::optional<Error>> outcome(const Plan& plan) {
    return outcome_of(plan.grid, plan.ranks, memory_);
  }

  [[nodiscard]] DeviceConnections& connections() { return *connections_; }

 private:
  DeviceMemory& memory_;
  DeviceControl* control_;
  int nranks_;
  std::unique_ptr<DeviceConnections> connections_;
};

}  // namespace ringside

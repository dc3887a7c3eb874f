#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/collectives/direct_stores.h"
#include "engine/collectives/task.h"
#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/device_fifo.h"
#include "engine/cuda/device/device_memory.h"
#include "engine/cuda/device/switch_slots.h"
#include "engine/reduce/reduce_op.h"
#include "engine/runtime/host/connect.h"
#include "engine/tuning/choice.h"
#include "ringside/units.h"

namespace ringside {

/// Converts a ReduceOp for device code; null: no reduction.
DeviceReduction device_reduction(const ReduceOp* op);

/// Provides the ends of a launch's connections, by name.
class DeviceLinks {
 public:
  virtual ~DeviceLinks() = default;

  /// Returns one end of a connection.
  /// errors  System: no memory
  virtual Result<DeviceEnd> end_of(const ConnectionId& id, bool receives) = 0;
  /// Returns the slots of a group for one of its members.
  /// errors  System: no memory.  Unsupported: no switch connects these ranks' memory
  virtual Result<SwitchSlots> slots_of(const SwitchName& name, Rank member);
  /// Returns the number of messages that a connection holds: a power of two.
  [[nodiscard]] virtual int slots() const = 0;
};

/// Reads the progress of one end while kernels run.
/// cpu_fifo  the address of the DeviceFifo for the CPU; null: the CPU cannot access it, so the device copies the
///           counters
/// fifo      its address for kernels
/// returns   nullopt: the device does not report it
std::optional<DeviceProgress> look_at(DeviceMemory& memory, std::byte* cpu_fifo, std::byte* fifo,
                                      bool receives);

/// The connections among ranks of one GPU, in its memory. They are made on first use, kept, and shared by all calls
/// with the same protocol and slot size.
///
/// Ownership  the memory outlives it
class DeviceConnections : public DeviceLinks {
 public:
  explicit DeviceConnections(DeviceMemory& memory, int slots = kSlots)
      : memory_(memory), slots_(slots) {}

  Result<DeviceEnd> end_of(const ConnectionId& id, bool receives) override;
  [[nodiscard]] int slots() const override { return slots_; }

  /// Returns the same as ProcessLinks::progress(), for what one rank sends and receives. Threads  any
  [[nodiscard]] std::vector<Connections::Progress> progress(Rank rank) const;

  /// For tests of long-lived connections: sets all counters as if that many messages had passed, and leaves the slots
  /// unchanged.
  /// shape   no launch is running
  /// errors  System
  Status start_over_at(std::uint64_t step);

 protected:
  [[nodiscard]] DeviceMemory& memory() { return memory_; }

 private:
  DeviceMemory& memory_;
  int slots_;
  mutable std::mutex mutex_;  ///< guards fifos_, which progress() reads on any thread
  std::map<ConnectionId, std::byte*> fifos_;
};

/// The arguments of one rank for a call.
struct DeviceRank {
  Rank rank{0};
  std::span<const ChannelTask> tasks;  ///< [channel]
  const ReduceOp* reduce = nullptr;    ///< null: no reduction
  /// [channel]: messages that may bypass slots; empty: none
  std::span<const DirectStores> direct = {};
};

/// The properties that the blocks of a call have in common.
struct DeviceCallShape {
  Choice choice;
  DataType type = DataType::Float32;
  Nanoseconds timeout{std::chrono::seconds(60)};
  int warps_per_strand = 4;
  std::uint32_t events = 0;    ///< number of events stored per strand; 0: none are recorded
  DeviceWindows windows = {};  ///< for ranks in separate processes
};

/// The blocks of a call, in device memory: one a rank and channel.
struct DeviceGrid {
  const DeviceBlock* blocks = nullptr;
  int count = 0;
  int places = 1;   ///< ranks
  int strands = 1;  ///< maximum over the blocks
  int warps_per_strand = 1;
  DeviceReport* reports = nullptr;         ///< [block][warp]
  DeviceEventList* event_lists = nullptr;  ///< [block][strand]; null: none are recorded
  DeviceEvent* events = nullptr;           ///< [block][strand][shape.events]
  std::int16_t window = 0;                 ///< default window of its outputs: DeviceLaunch::windows

  [[nodiscard]] int warps() const { return strands * warps_per_strand; }
  [[nodiscard]] int channels() const { return count / places; }
};

/// Writes the blocks of all ranks of a launch to device memory, with the ends of their connections.
/// control  in shared memory
/// errors   Unsupported: more ranks or ends than a launch or block has.  System: no memory.  Those of DeviceLinks
Result<DeviceGrid> lay_out(std::span<const DeviceRank> ranks, const DeviceCallShape& shape,
                           DeviceControl* control, DeviceLinks& links, DeviceMemory& memory);

/// Returns how the launch ended: what the first warp that gave up had waited for.
/// returns  nullopt: no failure
/// errors   System
Result<std::optional<Error>> outcome_of(const DeviceGrid& grid, std::span<const DeviceRank> ranks,
                                        DeviceMemory& memory);

/// Returns the events that one strand of one block has recorded since the last call, in order; at most as many as
/// requested.
/// shape   no launch is running
/// errors  System
Result<std::vector<DeviceEvent>> take_events(const DeviceGrid& grid, int block, int strand,
                                             DeviceMemory& memory);

}  // namespace ringside

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/words.h"
#include "engine/collectives/device_task.h"
#include "engine/cuda/device/device_direct.h"

/// What a GPU's executor hands to its kernels: plain data that hosts make (lay_out.h) and one block each reads.
namespace ringside {

/// Ends that a block has on one side at most, all of its ports together.
inline constexpr int kMostDeviceEnds = 64;
/// Ranks at most of one launch.
inline constexpr int kMostDeviceRanks = 16;
/// Calls at most of one launch, and ranks' buffers of all of them together: a kernel's arguments have 4 KiB.
inline constexpr int kMostDeviceWorks = 64;
inline constexpr int kMostDeviceBuffers = 128;
inline constexpr int kLanesOfWarp = 32;

/// One end of one direction of a connection.
///
/// Flow control  messages are counted from 0; message m lies in slot m % slots. Simple: the sender has posted
///               those below *tail. All protocols: the receiver is done with those below *head, so a sender
///               has room while m < *head + slots. In LL and LL128 flags in the lines signal arrival.
/// Ownership     of the connection's owner: lay_out.h, process_links.h
struct DeviceEnd {
  std::byte* slots = nullptr;     ///< aligned to 128 bytes; zero before the first message
  std::uint64_t* tail = nullptr;  ///< messages posted
  std::uint64_t* head = nullptr;  ///< messages taken
  /// Of this end alone: messages that have passed it, from call to call; behind that, for observers, 1 while its
  /// kernel has waited for it for a while (DeviceProgress); and then, of a sending end, below which message it is known to
  /// have room.
  std::uint64_t* step = nullptr;
  /// [slot]: bytes of data. Of sending ends whose slots a proxy takes on (proxy.h), which knows of no call: the ends give
  /// it the size and, whatever the protocol, the tail. Null: the receiver is a kernel
  std::uint32_t* sizes = nullptr;
  /// Of an end towards a switch (switch_slots.h), on the head's side: where the slots of all members lie at once, for
  /// multimem instructions alone. All of the port's ends have the same. Null: data lie in `slots`
  std::byte* multicast = nullptr;
  std::int32_t peer = 0;
  /// Simple, where the sender may reach the receiver's output: DeviceCredit. Null: all messages go through slots.
  DeviceCredit* credit = nullptr;
  std::uint64_t* credits = nullptr;  ///< of the sender alone: calls that it has had credit for
};

/// A reduction as ReduceOp has it, for device code.
struct DeviceReduction {
  bool reduces = false;
  DataType type = DataType::Float32;
  RedOp between = RedOp::Sum;  ///< Sum, Prod, Min or Max
  bool is_scaled = false;      ///< own input is multiplied by the scalar first
  std::uint64_t scalar = 0;    ///< the element's bits, as often as they go into 8 bytes
  std::int32_t divisor = 0;    ///< of what is written to an output; 0: none
};

/// What all blocks of a launch look at while they wait. In memory that hosts and kernels write at any time.
struct DeviceControl {
  static constexpr std::uint32_t kByHost = 1, kByKernel = 2;
  /// Not 0: every wait ends. A host says so, or a warp that has given up: what is behind it need not wait as long, and the
  /// host sees by one word whether there is anything to look at.
  std::uint32_t abort = 0;
};

enum class DeviceOutcome : std::uint32_t { Fine = 0, Aborted = 1, TimedOut = 2 };

/// How a warp ended, and what it waited for. One a warp; left alone where all went well, and by all that come later: launches
/// of the same blocks may follow each other before a host has looked.
struct DeviceReport {
  DeviceOutcome outcome = DeviceOutcome::Fine;
  std::int32_t peer = -1;
  std::uint32_t waits_for_room = 0;  ///< 1: to send; 0: to receive; 2: for credit to send
  std::uint32_t end = 0;             ///< on that side
  std::uint64_t step = 0;            ///< of that end
};

/// One primitive on one chunk by the GPU's clock.
struct DeviceEvent {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t offset = 0;  ///< elements, as TraceEvent::offset counts bytes
  std::int64_t count = 0;   ///< elements
  std::uint32_t step = 0;   ///< counts the strand's primitives
  std::int16_t recv_peer = -1;
  std::int16_t send_peer = -1;
  Primitive primitive = Primitive::Copy;
  std::uint8_t strand = 0;
};

/// Where the events of one strand go.
struct DeviceEventList {
  DeviceEvent* events = nullptr;  ///< null: nothing is recorded
  std::uint32_t capacity = 0;     ///< what comes later is counted, not kept
  std::uint32_t count = 0;
};

/// One rank's part of one channel: what one block runs, strand after strand side by side.
struct DeviceBlock {
  DeviceTask task;
  const std::byte* tables = nullptr;
  const DeviceEnd* recv_ends = nullptr;
  const DeviceEnd* send_ends = nullptr;
  const std::uint64_t* recv_of_port = nullptr;  ///< [port]: a bit for each of its ends
  const std::uint64_t* send_of_port = nullptr;
  /// These four tables lie in one piece, so that a machine can copy it: where it begins. 16 bytes are its unit.
  const std::byte* ends = nullptr;
  std::int64_t ends_bytes = 0;
  std::int32_t recv_count = 0;  ///< ends
  std::int32_t send_count = 0;
  std::int32_t rank = 0;
  std::int32_t place = 0;  ///< of the rank in the launch: whose buffers it takes
  std::int32_t channel = 0;
  std::int32_t element = 1;  ///< bytes
  std::int32_t warps_per_strand = 1;
  std::int32_t slots = kSlots;   ///< a power of two
  std::int64_t slot = 0;         ///< data bytes that a message has at most
  std::int64_t slot_memory = 0;  ///< device_slot_memory() of it
  std::int64_t timeout_ns = 0;   ///< a wait that takes longer fails
  Protocol protocol = Protocol::Simple;
  DeviceReduction reduction;
  DeviceControl* control = nullptr;
  DeviceReport* reports = nullptr;    ///< [warp]
  DeviceEventList* events = nullptr;  ///< [strand]; null: nothing is recorded
  DeviceDirect direct;
};
static_assert(std::is_trivially_copyable_v<DeviceBlock>);

/// Has a copy of a block use a copy of its tables, which lies at `here`.
RINGSIDE_HD inline void use_copied_ends(DeviceBlock& block, const std::byte* here) {
  const auto move = [&](auto*& table) {
    using Table = std::remove_reference_t<decltype(table)>;
    table =
        reinterpret_cast<Table>(here + (reinterpret_cast<const std::byte*>(table) - block.ends));
  };
  move(block.recv_ends);
  move(block.send_ends);
  move(block.recv_of_port);
  move(block.send_of_port);
}

/// One rank's buffers. They change from call to call; blocks do not.
struct DeviceBuffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
};

/// One call of a launch: its blocks, in memory that the GPU reads, and the index of its buffers in DeviceLaunch::buffers.
struct DeviceWork {
  const DeviceBlock* blocks = nullptr;  ///< [place][channel]
  std::int32_t channels = 1;
  std::int32_t first_buffers = 0;  ///< of place 0; those of the others follow
};

/// What a launch is given, by value. A block of it is one channel of one rank: it takes its part of each call, one after the
/// other, as far as they have that channel.
struct DeviceLaunch {
  std::int32_t places = 0;    ///< ranks
  std::int32_t channels = 0;  ///< of the call that has most
  std::int32_t warps = 0;     ///< of a block: of the call that wants most
  std::int32_t works = 0;
  std::int32_t buffer_count = 0;
  std::int32_t is_one_gpu = 1;    ///< 0: a rank is on another GPU, or a host waits for a counter
  std::int32_t absent_rank = -1;  ///< whose blocks end at once, as if it had died: faults and tests
  DeviceWork work[kMostDeviceWorks] = {};
  DeviceBuffers buffers[kMostDeviceBuffers] = {};
  /// Of each buffers' output. 0: others cannot reach it. kSameSpace: senders see it where its owner does. Else the number
  /// of the memory that it lies in: DeviceWindows
  std::int16_t windows[kMostDeviceBuffers] = {};
  static constexpr std::int16_t kSameSpace = -1;

  [[nodiscard]] RINGSIDE_HD int blocks() const { return places * channels; }
};
static_assert(std::is_trivially_copyable_v<DeviceLaunch> && sizeof(DeviceLaunch) <= 4096);

/// Bytes of one slot's memory that holds `data` bytes.
/// LL     16-byte lines: two words of 4 bytes data and 4 of flag
/// LL128  128-byte lines: 120 bytes data and 8 of flag
RINGSIDE_HD constexpr std::int64_t device_slot_memory(Protocol protocol, std::int64_t data) {
  switch (protocol) {
    case Protocol::LL:
      return ceil_multiple(ceil_div(data, 8) * 16, 128);
    case Protocol::LL128:
      return ceil_div(data, 120) * 128;
    case Protocol::Simple:
      break;
  }
  return ceil_multiple(data, 128);
}

/// Flags of LL have 32 bits. So that what an old, longer message left in a slot is never taken for new, in
/// `slots` messages twice on the way round the sender writes the slot's every line.
RINGSIDE_HD constexpr bool writes_every_line(std::uint64_t step, int slots) {
  const std::uint64_t since = (step + 1) & 0x7FFFFFFFU;
  return step > 0x7FFFFFF0U && since <= static_cast<std::uint64_t>(slots);
}

}  // namespace ringside

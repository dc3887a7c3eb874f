#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/words.h"
#include "engine/collectives/device_task.h"
#include "engine/cuda/device/device_direct.h"

/// The data that a GPU's executor passes to its kernels. Hosts make it (lay_out.h), and each block reads its part.
namespace ringside {

/// Ends that a block has on one side at most, all of its ports together.
inline constexpr int kMostDeviceEnds = 64;
/// Maximum number of ranks in one launch.
inline constexpr int kMostDeviceRanks = 16;
/// Calls at most of one launch, and ranks' buffers of all of them together: a kernel's arguments have 4 KiB.
inline constexpr int kMostDeviceWorks = 64;
inline constexpr int kMostDeviceBuffers = 128;
inline constexpr int kLanesOfWarp = 32;

/// One end of one direction of a connection.
///
/// Flow control  messages are counted from 0; message m uses slot m % slots. Simple: the sender has posted all
///               messages below *tail. All protocols: the receiver has released all messages below *head, so a sender
///               has room while m < *head + slots. In LL and LL128, flags in the lines signal arrival.
/// Ownership     the owner of the connection also owns this memory: lay_out.h, process_links.h
struct DeviceEnd {
  std::byte* slots = nullptr;     ///< aligned to 128 bytes; zero before the first message
  std::uint64_t* tail = nullptr;  ///< messages posted
  std::uint64_t* head = nullptr;  ///< messages taken
  /// Three counters that only this end uses: the number of messages that have passed it, kept across calls; then, for
  /// observers, 1 while its kernel has been waiting for it for some time (DeviceProgress); then, for a sending end,
  /// the message number below which it is known to have room.
  std::uint64_t* step = nullptr;
  /// [slot]: bytes of data. Only for sending ends whose slots a proxy sends (proxy.h). The proxy does not know the
  /// calls, so the end passes it the size and, with any protocol, the tail. Null: the receiver is a kernel
  std::uint32_t* sizes = nullptr;
  /// Head's end towards a switch (switch_slots.h): address of all members' slots, for multimem only. Null: no switch
  std::byte* multicast = nullptr;
  std::int32_t peer = 0;
  /// Simple only: the credit by which the sender may store into the receiver's output. Null: all messages use slots.
  DeviceCredit* credit = nullptr;
  std::uint64_t* credits = nullptr;  ///< sender only: calls with credit so far
};

/// A ReduceOp for device code.
struct DeviceReduction {
  bool reduces = false;
  DataType type = DataType::Float32;
  RedOp between = RedOp::Sum;  ///< Sum, Prod, Min or Max
  bool is_scaled = false;      ///< whether own input is first multiplied by the scalar
  std::uint64_t scalar = 0;    ///< the element's bits, repeated to fill 8 bytes
  std::int32_t divisor = 0;    ///< divides values that are written to an output; 0: no division
};

/// The memory that all blocks of a launch poll while they wait. Hosts and kernels may write it at any time.
struct DeviceControl {
  static constexpr std::uint32_t kByHost = 1, kByKernel = 2;
  /// Not 0: every wait ends. Set by a host, or by a warp that has given up, so that other warps need not wait as long,
  /// and that the host can check all warps by one word.
  std::uint32_t abort = 0;
};

/// How a warp's waits ended.
enum class DeviceOutcome : std::uint32_t { Fine = 0, Aborted = 1, TimedOut = 2 };

/// How a warp ended, and what it waited for. Each warp has one. Only the first failure is stored: several launches of
/// the same blocks may run before the host reads it.
struct DeviceReport {
  DeviceOutcome outcome = DeviceOutcome::Fine;
  std::int32_t peer = -1;
  std::uint32_t waits_for_room = 0;  ///< 1: to send; 0: to receive; 2: for credit to send
  std::uint32_t end = 0;             ///< on that side
  std::uint64_t step = 0;            ///< step of that end
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

/// The memory for the events of one strand.
struct DeviceEventList {
  DeviceEvent* events = nullptr;  ///< null: nothing is recorded
  std::uint32_t capacity = 0;     ///< further events are counted but not stored
  std::uint32_t count = 0;
};

/// One rank's part of one channel, which one block runs; its strands run concurrently.
struct DeviceBlock {
  DeviceTask task;
  const std::byte* tables = nullptr;
  const DeviceEnd* recv_ends = nullptr;
  const DeviceEnd* send_ends = nullptr;
  const std::uint64_t* recv_of_port = nullptr;  ///< [port]: one bit for each of its ends
  const std::uint64_t* send_of_port = nullptr;
  /// Start of the memory of the four tables above, which a machine may copy in units of 16 bytes.
  const std::byte* ends = nullptr;
  std::int64_t ends_bytes = 0;
  std::int32_t recv_count = 0;  ///< ends
  std::int32_t send_count = 0;
  std::int32_t rank = 0;
  std::int32_t place = 0;  ///< place of the rank in the launch, which selects its buffers
  std::int32_t channel = 0;
  std::int32_t element = 1;  ///< bytes
  std::int32_t warps_per_strand = 1;
  std::int32_t slots = kSlots;   ///< a power of two
  std::int64_t slot = 0;         ///< maximum data bytes of a message
  std::int64_t slot_memory = 0;  ///< device_slot_memory() of `slot`
  std::int64_t timeout_ns = 0;   ///< a wait that takes longer fails
  Protocol protocol = Protocol::Simple;
  DeviceReduction reduction;
  DeviceControl* control = nullptr;
  DeviceReport* reports = nullptr;    ///< [warp]
  DeviceEventList* events = nullptr;  ///< [strand]; null: nothing is recorded
  DeviceDirect direct;
};
static_assert(std::is_trivially_copyable_v<DeviceBlock>);

/// Makes a copy of a block use the copy of its tables at `here`.
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

/// One call of a launch: its blocks, in memory of the GPU, and the index of its buffers in DeviceLaunch::buffers.
struct DeviceWork {
  const DeviceBlock* blocks = nullptr;  ///< [place][channel]
  std::int32_t channels = 1;
  std::int32_t first_buffers = 0;  ///< index of place 0; the other places follow
};

/// The argument of a launch, passed by value. A block runs one channel of one rank: its part of each call in order, if
/// the call has that channel.
struct DeviceLaunch {
  std::int32_t places = 0;    ///< ranks
  std::int32_t channels = 0;  ///< maximum over the calls
  std::int32_t warps = 0;     ///< warps of a block; maximum over the calls
  std::int32_t works = 0;
  std::int32_t buffer_count = 0;
  std::int32_t is_one_gpu = 1;    ///< 0: a rank is on another GPU, or a host waits for a counter
  std::int32_t absent_rank = -1;  ///< faults, tests: rank whose blocks end at once
  DeviceWork work[kMostDeviceWorks] = {};
  DeviceBuffers buffers[kMostDeviceBuffers] = {};
  /// [buffers]: how other ranks can reach the output. 0: not at all. kSameSpace: senders use the owner's address. Else
  /// the number of the window that contains it: DeviceWindows
  std::int16_t windows[kMostDeviceBuffers] = {};
  static constexpr std::int16_t kSameSpace = -1;

  [[nodiscard]] RINGSIDE_HD int blocks() const { return places * channels; }
};
static_assert(std::is_trivially_copyable_v<DeviceLaunch> && sizeof(DeviceLaunch) <= 4096);

/// Returns the bytes of a slot's memory that hold `data` bytes.
/// LL     16-byte lines: two words, each with 4 bytes of data and 4 of flag
/// LL128  128-byte lines: 120 bytes of data and 8 of flag
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

/// Returns whether the sender writes every line of the slot. Flags of LL have 32 bits: twice per wrap-around, in
/// `slots` + 1 consecutive messages, the sender writes all lines, so that no data of an old, longer message can be taken
/// for new.
RINGSIDE_HD constexpr bool writes_every_line(std::uint64_t step, int slots) {
  const std::uint64_t since = (step + 1) & 0x7FFFFFFFU;
  return step > 0x7FFFFFF0U && since <= static_cast<std::uint64_t>(slots);
}

}  // namespace ringside

#pragma once

#include <cstdint>

#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/device_steps.h"
#include "engine/cuda/device/device_wait.h"

namespace ringside {

/// The right of a sender to store a message directly into a receiver's output, without a slot, for the connections of
/// one block. At the start of a call the receiver increments DeviceCredit::calls. The sender may store once that number
/// is greater than its own count of calls (DeviceEnd::credits). Both ends count each call whose DirectStep tables
/// permit direct stores on the connection, whether or not such a store occurs. Each warp of a strand has its own object
/// for each call.
///
/// Ordering   a receiver grants credit with st.release.sys when the strand begins, after all earlier accesses to its
///            output; one warp of a sender's strand reads it with ld.acquire.sys, and after a barrier all warps read
///            the address and store
template <typename Machine>
class DeviceCredits {
 public:
  RINGSIDE_HD DeviceCredits(Machine& machine, const DeviceBlock& block)
      : machine_(machine), block_(block) {}

  /// Lets the senders of the strand's receiving ends store into this rank's output. Every warp calls it once, before
  /// the strand's first step; only warp 0 grants the credits.
  /// output  this rank's output
  /// window  how other ranks reach it, as DeviceLaunch::windows: 0: not at all, so messages use slots; kSameSpace: by
  ///         the owner's address; > 0: index into DeviceWindows
  RINGSIDE_HD void begin_call(int strand, std::byte* output, std::int64_t window) {
    has_window_ = window != 0;
    if (block_.direct.first == nullptr || machine_.warp() != 0) return;
    machine_.each_lane([&](int lane) {
      for_each_end_of_lane(block_.direct.from_ends[strand], lane, [&](int end) {
        DeviceCredit* const credit = block_.recv_ends[end].credit;
        if (credit == nullptr) return;
        credit->output = output;
        credit->window = window;
        machine_.store_release(&credit->calls, credit->calls + 1);
      });
    });
  }

  /// Counts this call on the strand's sending ends.
  /// shape  called once, by one warp, after the strand's last step
  RINGSIDE_HD void end_call(int strand) {
    if (block_.direct.first == nullptr) return;
    machine_.each_lane([&](int lane) {
      for_each_end_of_lane(block_.direct.to_ends[strand], lane, [&](int end) {
        const DeviceEnd& sender = block_.send_ends[end];
        if (sender.credit != nullptr) ++*sender.credits;
      });
    });
  }

  /// Returns whether this rank has let the peer of receiving end `end` store into its output in this call.
  /// shape  a step of this call takes a message directly from `end` (DirectStep::takes)
  [[nodiscard]] RINGSIDE_HD bool has_granted(int end) const {
    return has_window_ && block_.recv_ends[end].credit != nullptr;
  }

  /// Waits until the receiver of sending end `end` has granted the credit of this call. Returns true at once if the
  /// step stores nothing directly there, or if output_of() has already found the output.
  /// returns  false: the warp has given up (abort or timeout); wait.outcome() has the reason
  RINGSIDE_HD bool wait_for_credit(int end, const DirectStep& direct, DeviceWait<Machine>& wait) {
    if (!is_wanted(end, direct) || (found_outputs_ >> end & 1U) != 0) return true;
    const DeviceEnd& own = block_.send_ends[end];
    while (!machine_.all_lanes([&](int lane) {
      return lane != 0 || machine_.load_acquire(&own.credit->calls) > *own.credits;
    })) {
      if (wait.is_over(own.step)) return false;
    }
    machine_.sync_warp();  // what lane 0 has acquired is visible to the other lanes after this
    return true;
  }

  /// Returns this rank's address of the output of the receiver at sending end `end`. Null: the message uses a slot,
  /// because the step does not store directly to `end`, the connection has no credit, or the receiver's window is 0.
  /// shape  one warp has returned from wait_for_credit(), and this is that warp, or a barrier of the strand has
  ///        followed
  [[nodiscard]] RINGSIDE_HD std::byte* output_of(int end, const DirectStep& direct) {
    if (!is_wanted(end, direct)) return nullptr;
    if ((found_outputs_ >> end & 1U) == 0) {
      const DeviceCredit& credit = *block_.send_ends[end].credit;
      const DeviceWindows& windows = block_.direct.windows;
      std::byte* output = credit.window == 0 ? nullptr : credit.output;
      if (credit.window > 0) {
        output += windows.offsets[credit.window * windows.ranks + block_.send_ends[end].peer];
      }
      machine_.each_lane([&](int lane) {
        if (lane == 0) machine_.warp_memory().outputs[end] = output;
      });
      found_outputs_ |= std::uint64_t{1} << end;
      return output;
    }
    return machine_.warp_memory().outputs[end];
  }

  /// Returns the offset in the receiver's output, in bytes, of the data at DeviceSlice::place.
  [[nodiscard]] RINGSIDE_HD std::int64_t offset_in_output(int end, std::int64_t place) const {
    return place + block_.direct.shift[end];
  }

 private:
  [[nodiscard]] RINGSIDE_HD bool is_wanted(int end, const DirectStep& direct) const {
    return (direct.to >> end & 1U) != 0 && block_.send_ends[end].credit != nullptr;
  }

  Machine& machine_;
  const DeviceBlock& block_;
  /// One bit per sending end: warp_memory().outputs[end] holds the result of output_of() for this call; it may be null
  std::uint64_t found_outputs_ = 0;
  bool has_window_ = false;  ///< other ranks can reach this rank's output
};

}  // namespace ringside

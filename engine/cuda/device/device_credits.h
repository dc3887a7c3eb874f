#pragma once

#include <cstdint>

#include "engine/cuda/device/device_call.h"
#include "engine/cuda/device/device_steps.h"
#include "engine/cuda/device/device_wait.h"

namespace ringside {

/// Grants the right to store into a rank's output: the credits of one block, as used by one warp of one strand. Both
/// ends of a connection count the calls whose tables permit direct stores on it, whether or not such stores occur.
///
/// Ordering   a receiver grants credit with st.release.sys when the strand begins, after all earlier accesses to its
///            output; one warp of a sender's strand reads it with ld.acquire.sys, and after a barrier all warps read
///            the address and store
template <typename Machine>
class DeviceCredits {
 public:
  RINGSIDE_HD DeviceCredits(Machine& machine, const DeviceBlock& block)
      : machine_(machine), block_(block) {}

  /// Before the strand's first step: grants ranks that may store into this rank's output the right to do so.
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

  /// Ends the call; called by one warp of the strand.
  RINGSIDE_HD void end_call(int strand) {
    if (block_.direct.first == nullptr) return;
    machine_.each_lane([&](int lane) {
      for_each_end_of_lane(block_.direct.to_ends[strand], lane, [&](int end) {
        const DeviceEnd& its = block_.send_ends[end];
        if (its.credit != nullptr) ++*its.credits;
      });
    });
  }

  /// Returns whether this rank has let the peer of a receiving end store into its output.
  [[nodiscard]] RINGSIDE_HD bool is_given(int end) const {
    return has_window_ && block_.recv_ends[end].credit != nullptr;
  }

  /// Waits until the receiver has begun this call, if the step's message may be stored directly. Once a call.
  /// returns  false: the wait is over
  RINGSIDE_HD bool wait_for(int end, const DirectStep& direct, DeviceWait<Machine>& wait) {
    if (!is_wanted(end, direct) || (is_known_ >> end & 1U) != 0) return true;
    const DeviceEnd& own = block_.send_ends[end];
    while (!machine_.all_lanes([&](int lane) {
      return lane != 0 || machine_.load_acquire(&own.credit->calls) > *own.credits;
    })) {
      if (wait.is_over(own.step)) return false;
    }
    machine_.sync_warp();  // what lane 0 has acquired is visible to the other lanes after this
    return true;
  }

  /// Returns the output of a sending end's peer if the step's message is stored into it. Null: the message uses a
  /// slot.
  /// shape  one warp has returned from wait_for(), and this is that warp, or a barrier of the strand has followed
  [[nodiscard]] RINGSIDE_HD std::byte* output_of(int end, const DirectStep& direct) {
    if (!is_wanted(end, direct)) return nullptr;
    if ((is_known_ >> end & 1U) == 0) {
      const DeviceCredit& credit = *block_.send_ends[end].credit;
      const DeviceWindows& windows = block_.direct.windows;
      std::byte* output = credit.window == 0 ? nullptr : credit.output;
      if (credit.window > 0) {
        output += windows.offsets[credit.window * windows.ranks + block_.send_ends[end].peer];
      }
      machine_.each_lane([&](int lane) {
        if (lane == 0) machine_.warp_memory().outputs[end] = output;
      });
      is_known_ |= std::uint64_t{1} << end;
      return output;
    }
    return machine_.warp_memory().outputs[end];
  }
  /// Returns the offset in that output for DeviceSlice::place.
  [[nodiscard]] RINGSIDE_HD std::int64_t shifted(int end, std::int64_t place) const {
    return place + block_.direct.shift[end];
  }

 private:
  [[nodiscard]] RINGSIDE_HD bool is_wanted(int end, const DirectStep& direct) const {
    return (direct.to >> end & 1U) != 0 && block_.send_ends[end].credit != nullptr;
  }

  Machine& machine_;
  const DeviceBlock& block_;
  /// One bit per end whose receiver's output is known to be null: messages use slots
  std::uint64_t is_known_ = 0;
  bool has_window_ = false;  ///< others may reach this rank's output
};

}  // namespace ringside

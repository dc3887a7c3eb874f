#pragma once

#include <cstdint>

#include "engine/cuda/device/device_call.h"

namespace ringside {

/// One wait of one warp. After a certain number of polls without success, it checks whether to continue.
template <typename Machine>
class DeviceWait {
 public:
  RINGSIDE_HD DeviceWait(Machine& machine, const DeviceBlock& block)
      : machine_(machine), block_(block) {}

  /// Called after a poll without success.
  /// step     counter of the end that is waited for (DeviceEnd::step)
  /// returns  whether the warp gives up, the same on all its lanes; outcome() gives the reason
  RINGSIDE_HD bool is_over(std::uint64_t* step) {
    machine_.pause();
    if (++looks_ % Machine::kLooksPerQuestion != 0) return false;
    if (noted_ != step) note(step);
    // One lane decides: each might see another time.
    const bool aborts =
        first_lane_finds([&] { return machine_.load_flag(&block_.control->abort) != 0; });
    if (aborts) outcome_ = DeviceOutcome::Aborted;
    const std::int64_t now = machine_.now_ns();
    if (begin_ns_ == 0) begin_ns_ = now;
    const bool is_late = first_lane_finds([&] { return now - begin_ns_ > block_.timeout_ns; });
    if (is_late && !aborts) outcome_ = DeviceOutcome::TimedOut;
    return aborts || is_late;
  }

  /// Called when the wait has succeeded.
  RINGSIDE_HD void end() {
    if (noted_ != nullptr) note(nullptr);
  }

  [[nodiscard]] RINGSIDE_HD DeviceOutcome outcome() const { return outcome_; }

 private:
  /// Publishes, for observers, the only end that the warp waits for; null: none.
  RINGSIDE_HD void note(std::uint64_t* step) {
    machine_.each_lane([&](int lane) {
      if (lane == 0 && noted_ != nullptr) machine_.store_relaxed(noted_ + 1, 0);
      if (lane == 0 && step != nullptr) machine_.store_relaxed(step + 1, 1);
    });
    noted_ = step;
  }

  /// Evaluates on lane 0 and returns the result on all lanes.
  template <typename Ask>
  RINGSIDE_HD bool first_lane_finds(Ask ask) {
    return !machine_.all_lanes([&](int lane) { return lane != 0 || !ask(); });
  }

  Machine& machine_;
  const DeviceBlock& block_;
  std::uint64_t* noted_ = nullptr;
  std::uint32_t looks_ = 0;
  std::int64_t begin_ns_ = 0;
  DeviceOutcome outcome_ = DeviceOutcome::Fine;
};

}  // namespace ringside

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cuda/device/call_ranges.h"
#include "engine/cuda/device/device_direct.h"
#include "engine/cuda/links/process_links.h"

namespace ringside {

/// Memory that ranks with launches of their own have registered, each its own, so that the others store straight into
/// outputs that lie in it: DeviceLaunch::windows. What is opened stays so until the GPU's memory ends.
///
/// Threads    one at a time
/// Ownership  links and memory outlive it
class ProcessWindows {
 public:
  /// errors  System: no memory
  static Result<std::unique_ptr<ProcessWindows>> make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                      ProcessLinks& links);

  /// Every rank calls it at the same time, each with memory of its own.
  /// base     what DeviceMemory::share() takes
  /// returns  its number, the same on all ranks; 0: there are kMost of them already, and it makes no difference
  /// errors   as ProcessLinks::connect(). One rank's memory that cannot be shared is no error: its messages go through
  ///          slots
  Result<int> add(std::byte* base, Bytes size, Deadline deadline);

  /// From the next call on no rank stores there. Of this rank alone.
  void remove(int number);

  /// The one in which all lies that a call writes; 0: there is none.
  [[nodiscard]] std::int16_t window_of(const std::vector<MemoryRange>& writes) const;

  /// How often add() has been called: the same on all ranks.
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] DeviceWindows on_device() const;

 private:
  static constexpr int kMost = 64;
  struct Window {
    int number = 0;
    MemoryRange memory;
  };

  ProcessWindows(Bootstrap& bootstrap, DeviceMemory& memory, ProcessLinks& links)
      : bootstrap_(bootstrap), memory_(memory), links_(links) {}

  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  ProcessLinks& links_;
  std::int64_t* offsets_ = nullptr;
  std::vector<Window> mine_;
  int count_ = 0;
};

}  // namespace ringside

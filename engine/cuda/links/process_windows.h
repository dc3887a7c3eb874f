#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cuda/device/call_ranges.h"
#include "engine/cuda/device/device_direct.h"
#include "engine/cuda/links/process_links.h"

namespace ringside {

/// Memory that ranks with separate launches have registered, so that other ranks store directly into outputs in it
/// (DeviceLaunch::windows). Opened memory stays open until the DeviceMemory is destroyed.
///
/// Threads    one at a time
/// Ownership  links and memory outlive it
class ProcessWindows {
 public:
  /// Allocates the table of windows; no memory is registered yet.
  /// errors  System: no memory
  static Result<std::unique_ptr<ProcessWindows>> make(Bootstrap& bootstrap, DeviceMemory& memory,
                                                      ProcessLinks& links);

  /// Registers this rank's memory. Every rank calls it at the same time.
  /// base     as for DeviceMemory::share()
  /// returns  the window's number, the same on all ranks; 0: kMost windows have been made, counting removed ones, and
  ///          this registration has no effect
  /// errors   as ProcessLinks::connect(). If the memory of one rank cannot be shared, that is no error: its messages
  ///          use slots
  Result<int> add(std::byte* base, Bytes size, Deadline deadline);

  /// Ends the registration: from the next call on, no rank stores into this memory. Only this rank calls it.
  void remove(int number);

  /// Returns the window that contains all memory that a call writes; 0: none.
  [[nodiscard]] std::int16_t window_of(const std::vector<MemoryRange>& writes) const;

  /// Returns the number of windows made so far, counting removed ones; equal on all ranks.
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] DeviceWindows on_device() const;

 private:
  static constexpr int kMost =
      64;  ///< rows of `offsets_`, which kernels read; a job registers few buffers
  struct Window {
    int number = 0;
    MemoryRange memory;
  };

  ProcessWindows(Bootstrap& bootstrap, DeviceMemory& memory, ProcessLinks& links)
      : bootstrap_(bootstrap), memory_(memory), links_(links) {}

  Bootstrap& bootstrap_;
  DeviceMemory& memory_;
  ProcessLinks& links_;
  std::int64_t* offsets_ = nullptr;  ///< in GPU memory: DeviceWindows::offsets
  std::vector<Window> mine_;
  int count_ = 0;
};

}  // namespace ringside

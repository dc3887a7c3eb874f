#pragma once

#include <memory>
#include <string>

#include "engine/cuda/device/device_queue.h"
#include "engine/cuda/device_traffic.h"
#include "tests/cuda/device_job.h"

namespace ringside {

/// The device that the tests of this folder run on: fibres of this process (fibre_device.cpp) or a GPU
/// (gpu_device.cpp). The tests are the same.
class DeviceUnderTest {
 public:
  virtual ~DeviceUnderTest() = default;
  [[nodiscard]] virtual DeviceLauncher launcher() = 0;
  /// Returns the queue of the same launches. On fibres a user's stream is a FakeStream.
  [[nodiscard]] virtual DeviceQueue& queue() = 0;
  /// Memory as cudaMalloc() gives it to a user's program: small pieces are cut from one block. Other processes can open it.
  /// shape   at most 64 KiB together; on fibres the company shares memory
  /// errors  System
  virtual Result<std::byte*> take_piece(Bytes size) = 0;

  int dead_rank = -1;   ///< whose blocks end before they begin
  bool hangs = false;   ///< on fibres: whether its blocks hang until they are stopped
  bool dies = false;    ///< on fibres: whether its process does, once its blocks have begun
  bool aborts = false;  ///< whether the host says so, soon after a launch has begun

  /// Bytes of data that the last launch loaded and stored, by Simple. A GPU does not count them.
  DeviceTraffic last_traffic;
};

/// Describes a device whose kernels also wait for kernels of other ranks' launches.
struct DeviceCompany {
  bool has_others = false;
  /// How other ranks open its memory, either by address within the process or between processes. A GPU ignores it.
  MemoryWay shares_by = MemoryWay::None;
  bool is_by_pcie = false;     ///< whether they reach it by PCIe, likewise
  bool lets_adapters = false;  ///< whether network adapters reach it. A GPU is as it is
  int number = 0;              ///< which of the host's, by turns
  /// Whether a switch joins these, each another rank's. A GPU is as it is
  bool has_switch = false;
};

/// Returns how many devices there are on which launches, one rank each, can wait for each other; with fibres, a large
/// number.
int device_count();

/// Files that a device keeps open for each piece of memory that take_to_share() gave: fibres one, since the piece is a file;
/// a GPU none.
int files_kept_per_share();

/// A fresh one.
/// errors  System: there is none, and why
Result<std::unique_ptr<DeviceUnderTest>> make_device(DeviceCompany company = {});

/// Returns whether that is because there is no device. Whatever else keeps one from opening is a failure.
inline bool is_absent(const Error& error) {
  return error.message.find("no NVIDIA driver") != std::string::npos ||
         error.message.find("no CUDA-capable device") != std::string::npos;
}

}  // namespace ringside

/// Skips the test with the reason where there is no device.
#define RINGSIDE_DEVICE_OR_SKIP(name)                             \
  const auto name##_made = ::ringside::make_device();             \
  if (!name##_made && ::ringside::is_absent(name##_made.error())) \
    GTEST_SKIP() << name##_made.error().message;                  \
  ASSERT_TRUE(name##_made) << name##_made.error().message;        \
  ::ringside::DeviceUnderTest& name = **name##_made

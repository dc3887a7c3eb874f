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
  /// Takes memory as cudaMalloc() gives it to a user's program: small pieces are cut from one block. Other processes
  /// can open it.
  ///
  /// shape   at most 64 KiB in all; with fibres, only on a device that shares memory
  /// errors  System
  virtual Result<std::byte*> take_piece(Bytes size) = 0;

  int dead_rank = -1;   ///< the rank whose blocks end before they begin
  bool hangs = false;   ///< with fibres: whether its blocks hang until they are stopped
  bool dies = false;    ///< with fibres: whether its process dies after its blocks have begun
  bool aborts = false;  ///< whether the host aborts soon after a launch has begun

  /// The bytes of data that the last launch loaded and stored with Simple. A GPU does not count them.
  DeviceTraffic last_traffic;
};

/// Describes a device whose kernels also wait for kernels of other ranks' launches.
struct DeviceCompany {
  bool has_others = false;
  /// How other ranks open its memory, either by address within the process or between processes. A GPU ignores it.
  MemoryAccess shares_by = MemoryAccess::None;
  bool is_by_pcie = false;     ///< whether other ranks reach it by PCIe; a GPU ignores it
  bool lets_adapters = false;  ///< whether network adapters reach it; a GPU ignores it
  int number = 0;              ///< the number of the host's device, assigned round-robin
  /// Whether a switch joins the devices of the ranks. A GPU ignores it.
  bool has_switch = false;
};

/// Returns how many devices there are on which launches, one rank each, can wait for each other; with fibres, a large
/// number.
int device_count();

/// Returns how many files a device keeps open for each piece of memory that take_to_share() gave: one with fibres, as
/// the piece is a file, none with a GPU.
int files_kept_per_share();

/// Makes a new device.
///
/// errors  System: there is none, and the reason
Result<std::unique_ptr<DeviceUnderTest>> make_device(DeviceCompany company = {});

/// Returns whether the error means that the machine has no device. Any other reason is a failure.
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

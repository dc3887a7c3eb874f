#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/virtual_ranks.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// A call by all ranks of one GPU, with the ranks' data.
struct DeviceCase {
  CollectiveCall call;  ///< its buffers are not used; with PreMulSum each rank has its own factor
  Choice choice;
  int nranks = 2;
  int warps_per_strand = 2;
  int offset = 0;         ///< bytes by which the buffers' addresses exceed a multiple of 16
  bool in_place = false;  ///< as NCCL defines it
  /// Elements are small integers, whose sums do not depend on the order.
  bool is_exact = false;
  std::uint64_t seed = 1;
  Nanoseconds timeout{std::chrono::seconds(20)};  ///< a launch under a sanitizer is slow
  std::uint32_t events = 0;
  bool stores_directly = true;
};

std::string to_string(const DeviceCase& test);

/// Bytes around an output, on each side, that a call must not change.
inline constexpr std::size_t kMargin = 64;

/// Fills an output before the call.
inline constexpr std::byte kPoison{0xA5};

/// The numbers of elements of one rank's input and output.
struct DeviceSizes {
  std::int64_t input = 0, output = 0;
};
DeviceSizes sizes_of(const DeviceCase& test);

/// Returns the factor of PreMulSum.
std::optional<ElementBits> scalar_of(const DeviceCase& test, int rank);

/// Returns the rank's input: arbitrary bits that are numbers of moderate size, in a pattern that distinguishes ranks
/// and places.
std::vector<std::byte> input_of(const DeviceCase& test, int rank);

/// Compares an output with the expected one; two NaN of float32 or float64 are equal (ReduceOp).
std::string difference(const DeviceCase& test, const std::vector<std::byte>& actual,
                       const std::vector<std::byte>& expected);

/// Runs one launch: as fibres on hosts, as a kernel on GPUs.
struct DeviceLauncher {
  DeviceMemory& memory;
  DeviceControl* control = nullptr;  ///< in shared memory
  /// returns  false if not all ranks have ended
  std::function<bool(const DeviceLaunch& launch, Collective collective)> run;
};

/// Ranks of one GPU whose connections are kept between calls.
class DeviceJob {
 public:
  /// connections  as VirtualRanks needs them; choices by a switch have one
  explicit DeviceJob(DeviceLauncher launcher, int slots = kSlots,
                     std::unique_ptr<DeviceConnections> connections = nullptr)
      : launcher_(std::move(launcher)), slots_(slots), own_(std::move(connections)) {}

  using Outputs = std::vector<std::vector<std::byte>>;  ///< [rank]

  /// errors  those of lay_out() and outcome_of()
  Result<Outputs> run(const DeviceCase& test);

  /// Runs several calls in one launch, as run() does.
  ///
  /// tests    all of one kernel and with the same number of ranks
  /// returns  the outputs of each call
  Result<std::vector<Outputs>> run_together(const std::vector<DeviceCase>& tests);

  /// Checks whether a byte around the outputs of the last call has changed.
  ///
  /// returns  where, or an empty text
  [[nodiscard]] std::string touched_outside(const DeviceCase& test);

  [[nodiscard]] DeviceConnections& connections() { return ranks_->connections(); }
  [[nodiscard]] const DeviceGrid& last_grid() const { return grid_; }
  /// Returns the traffic of the last call as its plan computes it.
  [[nodiscard]] const DeviceTraffic& last_traffic() const { return traffic_; }

 private:
  /// A call whose buffers lie in the device's memory.
  struct Laid {
    std::unique_ptr<VirtualRanks::Plan> plan;
    std::vector<DeviceBuffers> buffers;  ///< [rank]
  };
  Result<Laid> lay(const DeviceCase& test);
  Result<Outputs> outputs_of(const DeviceCase& test, const Laid& laid);

  DeviceLauncher launcher_;
  const int slots_;
  std::unique_ptr<DeviceConnections> own_;  ///< used until the first call
  std::optional<VirtualRanks> ranks_;       ///< set by the first call; as many ranks as it has
  DeviceGrid grid_;
  DeviceTraffic traffic_;
  std::vector<std::byte*> rooms_;  ///< [rank]: the memory that holds the last call's output
};

}  // namespace ringside

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

/// A call of all ranks of one GPU, with the ranks' data.
struct DeviceCase {
  CollectiveCall call;  ///< its buffers mean nothing; of PreMulSum each rank has its own factor
  Choice choice;
  int nranks = 2;
  int warps_per_strand = 2;
  int offset = 0;         ///< bytes of buffers' addresses beyond a multiple of 16
  bool in_place = false;  ///< as NCCL has it
  /// Elements are small integers: their sums are the same in whatever order.
  bool is_exact = false;
  std::uint64_t seed = 1;
  Nanoseconds timeout{std::chrono::seconds(20)};  ///< a launch under a sanitizer takes its time
  std::uint32_t events = 0;
  bool stores_directly = true;
};

std::string to_string(const DeviceCase& test);

/// Room around an output, on each side.
inline constexpr std::size_t kMargin = 64;

/// Fills an output before the call.
inline constexpr std::byte kPoison{0xA5};

/// Elements of one rank's input and output.
struct DeviceSizes {
  std::int64_t input = 0, output = 0;
};
DeviceSizes sizes_of(const DeviceCase& test);

/// The factor of PreMulSum.
std::optional<ElementBits> scalar_of(const DeviceCase& test, int rank);

/// Returns the rank's input: arbitrary bits that are numbers of moderate size, in a pattern that distinguishes ranks
/// and places.
std::vector<std::byte> input_of(const DeviceCase& test, int rank);

/// Whether each element is equal, or both are NaN of float32 or float64 (ReduceOp).
std::string difference(const DeviceCase& test, const std::vector<std::byte>& actual,
                       const std::vector<std::byte>& expected);

/// Runs one launch: as fibres on hosts, as a kernel on GPUs.
struct DeviceLauncher {
  DeviceMemory& memory;
  DeviceControl* control = nullptr;  ///< in shared memory
  /// returns  false: not all have ended
  std::function<bool(const DeviceLaunch& launch, Collective collective)> run;
};

/// Ranks of one GPU with connections that outlive calls.
class DeviceJob {
 public:
  /// connections  as VirtualRanks has them; of choices by a switch they have one
  explicit DeviceJob(DeviceLauncher launcher, int slots = kSlots,
                     std::unique_ptr<DeviceConnections> connections = nullptr)
      : launcher_(std::move(launcher)), slots_(slots), own_(std::move(connections)) {}

  using Outputs = std::vector<std::vector<std::byte>>;  ///< [rank]

  /// errors  as lay_out() and outcome_of()
  Result<Outputs> run(const DeviceCase& test);

  /// The same of several calls in one launch.
  /// tests    of one kernel and as many ranks
  /// returns  of each call
  Result<std::vector<Outputs>> run_together(const std::vector<DeviceCase>& tests);

  /// Whether a byte of the last call's outputs' memory outside of them has changed.
  /// returns  where, or nothing
  [[nodiscard]] std::string touched_outside(const DeviceCase& test);

  [[nodiscard]] DeviceConnections& connections() { return ranks_->connections(); }
  [[nodiscard]] const DeviceGrid& last_grid() const { return grid_; }
  /// Returns the traffic of the last call as its plan computes it.
  [[nodiscard]] const DeviceTraffic& last_traffic() const { return traffic_; }

 private:
  /// A call in the device's memory.
  struct Laid {
    std::unique_ptr<VirtualRanks::Plan> plan;
    std::vector<DeviceBuffers> buffers;  ///< [rank]
  };
  Result<Laid> lay(const DeviceCase& test);
  Result<Outputs> outputs_of(const DeviceCase& test, const Laid& laid);

  DeviceLauncher launcher_;
  const int slots_;
  std::unique_ptr<DeviceConnections> own_;  ///< until the first call
  std::optional<VirtualRanks> ranks_;       ///< since the first call; as many as that has
  DeviceGrid grid_;
  DeviceTraffic traffic_;
  std::vector<std::byte*> rooms_;  ///< [rank]: what the last call's output lies in
};

}  // namespace ringside

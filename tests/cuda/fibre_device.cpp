#include <atomic>
#include <cstring>
#include <vector>

#include "tests/cuda/device_under_test.h"
#include "tests/cuda/fibre_machine.h"

namespace ringside {
namespace {

/// Memory of this process, as a device's.
class FibreMemory final : public DeviceMemory {
 public:
  Result<std::byte*> take(Bytes size) override {
    taken_.push_back(std::make_unique<Line[]>(size.value / sizeof(Line) + 1));
    return reinterpret_cast<std::byte*>(taken_.back().get());
  }
  Result<std::byte*> take_shared(Bytes size) override { return take(size); }
  Status write(std::byte* to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    return {};
  }
  Status read(std::span<std::byte> to, const std::byte* from) override {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
    return {};
  }

 private:
  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<std::unique_ptr<Line[]>> taken_;
};

/// Every warp of a launch as a fibre. A turn is a microsecond, and drawn anew for each launch.
class FibreDevice final : public DeviceUnderTest {
 public:
  [[nodiscard]] DeviceLauncher launcher() override {
    return {memory_, &control_,
            [this](const DeviceGrid& grid, const DeviceLaunch& launch, Collective collective) {
              return with_kernel_collective(
                  collective, [&](auto constant) { return run<constant()>(grid, launch); });
            }};
  }

 private:
  static constexpr std::uint64_t kMostTurns = 2'000'000;
  static constexpr std::uint64_t kTurnsUntilAbort = 2000;

  template <Collective kCollective>
  bool run(const DeviceGrid& grid, const DeviceLaunch& launch) {
    Fibres fibres(++seed_);
    std::vector<std::unique_ptr<FibreStrand>> strands;
    for (int i = 0; i < grid.count; ++i) {
      const DeviceBlock& block = launch.blocks[i];
      if (block.rank == dead_rank) continue;
      for (int strand = 0; strand < grid.strands; ++strand) {
        strands.push_back(std::make_unique<FibreStrand>());
        FibreStrand& shared = *strands.back();
        shared.warps = grid.warps_per_strand;
        for (int warp = 0; warp < grid.warps_per_strand; ++warp) {
          fibres.add([&fibres, &shared, &block, &launch, strand, warp] {
            FibreMachine machine(fibres, shared, strand, warp);
            run_device_block<kCollective>(machine, block, launch.buffers[block.rank]);
          });
        }
      }
    }
    if (aborts) {
      fibres.add([&] {
        while (fibres.turns() < kTurnsUntilAbort) fibres.yield();
        control_.abort = 1;
      });
    }
    return fibres.run(kMostTurns);
  }

  FibreMemory memory_;
  DeviceControl control_;
  std::uint64_t seed_ = 1;
};

}  // namespace

Result<std::unique_ptr<DeviceUnderTest>> make_device() {
  return std::unique_ptr<DeviceUnderTest>(std::make_unique<FibreDevice>());
}

}  // namespace ringside

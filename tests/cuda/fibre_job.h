#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/cuda/device_job.h"
#include "tests/cuda/fibre_machine.h"

namespace ringside {

/// Memory of this process, as a device's.
class FibreMemory final : public DeviceMemory {
 public:
  Result<std::byte*> take(Bytes size) override {
    const std::size_t packs = size.value / sizeof(Line) + 1;
    taken_.push_back(std::make_unique<Line[]>(packs));
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

/// Every warp of a launch as a fibre.
class FibreGpu {
 public:
  FibreMemory memory;
  DeviceControl control;
  std::uint64_t seed = 1;
  std::uint64_t most_turns = 20'000'000;
  /// Called at every so many turns of fibre time by a fibre of its own, where given: the host beside the kernel.
  std::function<void(Fibres&)> host = {};
  int dead_rank = -1;  ///< whose blocks end before they begin

  [[nodiscard]] DeviceLauncher launcher() {
    return {memory, &control,
            [this](const DeviceGrid& grid, const DeviceLaunch& launch, Collective) {
              return run(grid, launch);
            }};
  }

 private:
  bool run(const DeviceGrid& grid, const DeviceLaunch& launch) {
    Fibres fibres(++seed);
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
            run_device_block(machine, block, launch.buffers[block.rank]);
          });
        }
      }
    }
    if (host) fibres.add([&] { host(fibres); });
    return fibres.run(most_turns);
  }
};

}  // namespace ringside

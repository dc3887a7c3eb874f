#include <signal.h>

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tests/cuda/device_under_test.h"
#include "tests/cuda/fake_queue.h"
#include "tests/cuda/fibre_machine.h"
#include "tests/cuda/fibre_memory.h"

namespace ringside {
namespace {

/// Runs every warp of a launch as a fibre. A turn counts as a microsecond; the order of turns is drawn anew for each
/// launch.
class FibreDevice final : public DeviceUnderTest {
 public:
  explicit FibreDevice(DeviceCompany company)
      : company_(company),
        memory_(make_fibre_memory(company.shares_by, company.lets_adapters,
                                  company.has_switch ? std::optional(company.number) : std::nullopt,
                                  company.is_by_pcie)) {}

  [[nodiscard]] DeviceLauncher launcher() override {
    return {*memory_, &control_, [this](const DeviceLaunch& launch, Collective collective) {
              return run(launch, collective);
            }};
  }
  [[nodiscard]] DeviceQueue& queue() override { return queue_; }
  Result<std::byte*> take_piece(Bytes size) override {
    constexpr std::int64_t kAlignment = 512;  // as CUDA's allocations have
    if (block_ == nullptr) {
      RINGSIDE_TRY(block_, memory_->take_to_share(64_KiB, company_.shares_by));
    }
    std::byte* const piece = block_ + taken_of_block_;
    taken_of_block_ += ceil_multiple(static_cast<std::int64_t>(size.value), kAlignment);
    return piece;
  }

 private:
  static constexpr std::uint64_t kMostTurns = 2'000'000;
  static constexpr std::uint64_t kTurnsUntilAbort = 2000;

  bool run(const DeviceLaunch& launch, Collective collective) {
    return with_kernel_collective(collective,
                                  [&](auto constant) { return run<constant()>(launch); });
  }

  template <Collective kCollective>
  bool run(const DeviceLaunch& launch) {
    Fibres fibres(++seed_,
                  company_.has_others ? Fibres::Company::Processes : Fibres::Company::None);
    DeviceLaunch own = launch;
    own.absent_rank = dead_rank;
    std::vector<FibreBlock> blocks(static_cast<std::size_t>(own.blocks()));
    for (int i = 0; i < own.blocks(); ++i) {
      FibreBlock& block = blocks[static_cast<std::size_t>(i)];
      block.warps = own.warps;
      for (int warp = 0; warp < own.warps; ++warp) {
        fibres.add([this, &fibres, &block, &own, i, warp] {
          FibreMachine machine(fibres, block, warp);
          if (dies) ::raise(SIGKILL);
          while (hangs && machine.load_flag(&control_.abort) == 0) fibres.pause();
          run_device_works<kCollective>(machine, own, i);
        });
      }
    }
    if (aborts) {
      fibres.add([&] {
        while (fibres.turns() < kTurnsUntilAbort) fibres.yield();
        control_.abort = 1;
      });
    }
    // With other ranks, waits end by their time-out.
    const bool has_ended = fibres.run(company_.has_others ? ~std::uint64_t{0} : kMostTurns);
    last_traffic = {};
    for (const FibreBlock& block : blocks) {
      for (const auto& [name, strand] : block.strands) {
        last_traffic.loaded.value += static_cast<std::uint64_t>(strand.loaded);
        last_traffic.stored.value += static_cast<std::uint64_t>(strand.stored);
      }
    }
    return has_ended;
  }

  const DeviceCompany company_;
  const std::unique_ptr<DeviceMemory> memory_;
  DeviceControl control_;
  std::byte* block_ = nullptr;  ///< the memory from which take_piece() cuts
  std::int64_t taken_of_block_ = 0;
  std::uint64_t seed_ = 1;
  FakeQueue queue_{[this](const DeviceLaunch& launch, Collective collective) {
    return run(launch, collective);
  }};  // last member: its thread uses the members above
};

}  // namespace

int device_count() { return std::numeric_limits<int>::max(); }
int files_kept_per_share() { return 1; }

Result<std::unique_ptr<DeviceUnderTest>> make_device(DeviceCompany company) {
  return std::unique_ptr<DeviceUnderTest>(std::make_unique<FibreDevice>(company));
}

}  // namespace ringside

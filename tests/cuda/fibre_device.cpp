#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/fd.h"
#include "engine/transport/mapping.h"
#include "engine/transport/sealed_file.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/fake_queue.h"
#include "tests/cuda/fibre_machine.h"

namespace ringside {
namespace {

/// Memory of this process, as a device's.
class FibreMemory : public DeviceMemory {
 public:
  Result<std::byte*> take(Bytes size) override {
    taken_.push_back(std::make_unique<Line[]>(size.value / sizeof(Line) + 1));
    return reinterpret_cast<std::byte*>(taken_.back().get());
  }
  Result<std::byte*> take_shared(Bytes size) override { return FibreMemory::take(size); }
  Status write(std::byte* to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
    return {};
  }
  Status read(std::span<std::byte> to, const std::byte* from) override {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
    return {};
  }

  Result<std::int64_t> count_wrong(const std::byte* buffer, const PlaceTable& expected) override {
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < expected.count; ++i) {
      wrong += is_as_expected(expected, buffer, i) ? 0 : 1;
    }
    return wrong;
  }
  Result<std::byte*> map(std::span<std::byte> pages) override { return pages.data(); }
  void unmap(std::span<std::byte> /*pages*/) noexcept override {}
  [[nodiscard]] DeviceId id() const override { return {}; }
  [[nodiscard]] bool reaches(const DeviceId& /*other*/) const override { return false; }
  Result<std::byte*> take_to_share(Bytes /*size*/) override { return cannot_share(); }
  Result<DeviceHandle> share(std::byte* /*memory*/) override { return cannot_share(); }
  Result<std::byte*> open(const DeviceHandle& /*handle*/) override { return cannot_share(); }

 private:
  static Error cannot_share() { return {ErrorCode::Unsupported, "memory of one process alone"}; }

  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<std::unique_ptr<Line[]>> taken_;
};

/// The same, of a device that all processes of this host share: what they share lies in files without names, which
/// the others open.
class FibreMemoryOfHost final : public FibreMemory {
 public:
  Result<std::byte*> take_to_share(Bytes size) override {
    RINGSIDE_TRY(UniqueFd file, make_sealed_file(size.value));
    RINGSIDE_TRY(Mapping mapping, Mapping::map(file.get(), size.value));
    files_.push_back({std::move(file), std::move(mapping)});
    return files_.back().mapping.data();
  }
  [[nodiscard]] DeviceId id() const override { return DeviceId{std::byte{1}}; }
  [[nodiscard]] bool reaches(const DeviceId& other) const override { return other == id(); }
  Result<DeviceHandle> share(std::byte* memory) override {
    const auto found = std::ranges::find_if(
        files_, [&](const File& file) { return file.mapping.data() == memory; });
    if (found == files_.end()) return Error{ErrorCode::System, "not what take_to_share() gave"};
    const std::string path = fmt::format("/proc/{}/fd/{}", ::getpid(), found->fd.get());
    DeviceHandle handle{};
    std::memcpy(handle.data(), path.data(), path.size());
    return handle;
  }
  Result<std::byte*> open(const DeviceHandle& handle) override {
    const UniqueFd file(::open(reinterpret_cast<const char*>(handle.data()), O_RDWR | O_CLOEXEC));
    if (!file) return system_error("another process's memory", errno);
    RINGSIDE_TRY(const std::size_t size, sealed_size(file.get()));
    RINGSIDE_TRY(Mapping mapping, Mapping::map(file.get(), size));
    opened_.push_back(std::move(mapping));
    return opened_.back().data();
  }

 private:
  struct File {
    UniqueFd fd;
    Mapping mapping;
  };
  std::vector<File> files_;
  std::vector<Mapping> opened_;
};

/// Every warp of a launch as a fibre. A turn is a microsecond, and drawn anew for each launch.
class FibreDevice final : public DeviceUnderTest {
 public:
  explicit FibreDevice(DeviceCompany company)
      : company_(company),
        memory_(company.shares_memory ? std::make_unique<FibreMemoryOfHost>()
                                      : std::make_unique<FibreMemory>()) {}

  [[nodiscard]] DeviceLauncher launcher() override {
    return {*memory_, &control_, [this](const DeviceLaunch& launch, Collective collective) {
              return run(launch, collective);
            }};
  }
  [[nodiscard]] DeviceQueue& queue() override { return queue_; }

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
                  company_.has_processes ? Fibres::Company::Processes : Fibres::Company::None);
    DeviceLaunch own = launch;
    own.absent_rank = dead_rank;
    std::vector<FibreBlock> blocks(static_cast<std::size_t>(own.blocks()));
    for (int i = 0; i < own.blocks(); ++i) {
      FibreBlock& block = blocks[static_cast<std::size_t>(i)];
      block.warps = own.warps;
      for (int warp = 0; warp < own.warps; ++warp) {
        fibres.add([&fibres, &block, &own, i, warp] {
          FibreMachine machine(fibres, block, warp);
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
    // In company, waits end by their time-out.
    return fibres.run(company_.has_processes ? ~std::uint64_t{0} : kMostTurns);
  }

  const DeviceCompany company_;
  const std::unique_ptr<FibreMemory> memory_;
  DeviceControl control_;
  std::uint64_t seed_ = 1;
  FakeQueue queue_{[this](const DeviceLaunch& launch, Collective collective) {
    return run(launch, collective);
  }};  // last: its thread uses what stands above
};

}  // namespace

Result<std::unique_ptr<DeviceUnderTest>> make_device(DeviceCompany company) {
  return std::unique_ptr<DeviceUnderTest>(std::make_unique<FibreDevice>(company));
}

}  // namespace ringside

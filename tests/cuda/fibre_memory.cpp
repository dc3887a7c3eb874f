#include "tests/cuda/fibre_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/fd.h"
#include "engine/cuda/device/process_memory.h"
#include "engine/transport/shm/mapping.h"
#include "engine/transport/shm/sealed_file.h"
#include "tests/cuda/fibre_multicast.h"

namespace ringside {
namespace {

class FibreMemory : public DeviceMemory {
 public:
  explicit FibreMemory(bool lets_adapters) : lets_adapters_(lets_adapters) {}
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

  Status look(std::span<std::uint64_t> to, const std::byte* from) override {
    auto* const words = reinterpret_cast<std::uint64_t*>(const_cast<std::byte*>(from));
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = std::atomic_ref(words[i]).load(std::memory_order_relaxed);
    }
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
  [[nodiscard]] DevicePlace place() const override { return {.process = process_identity()}; }
  [[nodiscard]] bool reaches(const DeviceId& /*other*/) const override { return false; }
  Result<std::byte*> take_to_share(Bytes /*size*/, MemoryAccess /*by*/) override {
    return cannot_share();
  }
  Result<DeviceShare> share(std::byte* /*memory*/, const ProcessIdentity& /*with*/) override {
    return cannot_share();
  }
  Result<std::byte*> open(const DeviceShare& /*share*/) override { return cannot_share(); }

  [[nodiscard]] AdapterAccess adapter_access() const override {
    return {.is_there = lets_adapters_,
            .compute_capability = 90,
            .flush = AdapterAccess::Flush::ByHost};
  }
  Result<AdapterMemory> take_for_adapters(Bytes size) override {
    RINGSIDE_TRY(std::byte* const memory, FibreMemory::take(size));
    return AdapterMemory{.data = memory, .size = size.value, .is_of_host = true};
  }

 private:
  static Error cannot_share() { return {ErrorCode::Unsupported, "memory of one rank alone"}; }

  struct alignas(128) Line {
    std::byte bytes[128];
  };
  const bool lets_adapters_;
  std::vector<std::unique_ptr<Line[]>> taken_;
};

/// The memory of a device that all ranks of this host share: shared pieces lie in unnamed files.
class FibreMemoryOfHost final : public FibreMemory {
 public:
  /// number  the number of the GPU behind a switch
  FibreMemoryOfHost(MemoryAccess shares_by, bool lets_adapters, std::optional<int> number,
                    bool is_by_pcie)
      : FibreMemory(lets_adapters),
        shares_by_(shares_by),
        is_by_pcie_(is_by_pcie),
        number_(static_cast<std::byte>(number.value_or(0))) {
    if (number) multicast_ = make_fibre_multicast();
  }

  [[nodiscard]] DevicePlace place() const override {
    return {.id = {std::byte{1}, number_},
            .process = process_identity(),
            .shares_by_ipc = shares_by_ == MemoryAccess::Ipc,
            .shares_by_file = shares_by_ == MemoryAccess::File,
            .has_multicast = multicast_ != nullptr};
  }
  [[nodiscard]] bool reaches(const DeviceId& other) const override {
    return other.front() == place().id.front();
  }
  [[nodiscard]] bool keeps_lines(const DeviceId& /*other*/) const override { return !is_by_pcie_; }
  DeviceMulticast* multicast() override { return multicast_.get(); }

  Result<std::byte*> take_to_share(Bytes size, MemoryAccess by) override {
    if ((by == MemoryAccess::File) != place().shares_by_file) {
      return Error{ErrorCode::Unsupported, "this device has no such memory"};
    }
    RINGSIDE_TRY(UniqueFd file, make_sealed_file(size.value));
    RINGSIDE_TRY(Mapping mapping, Mapping::map(file.get(), size.value));
    std::byte* const data = mapping.data();
    auto held = std::make_shared<Mapping>(std::move(mapping));
    ProcessMemory memory =
        offer_memory(data, [held](std::byte* /*data*/) mutable { held.reset(); });
    taken_.push_back({std::move(file), std::move(memory), size, by == MemoryAccess::File});
    return data;
  }

  Result<DeviceShare> share(std::byte* memory, const ProcessIdentity& with) override {
    const auto found = std::ranges::find_if(taken_, [&](const Taken& one) {
      return memory >= one.memory.get() && memory < one.memory.get() + one.size.value;
    });
    if (found == taken_.end()) return Error{ErrorCode::System, "not what take_to_share() gave"};
    DeviceShare share;
    share.handle = {.is_paged = found->is_paged,
                    .is_held = true,
                    .process = process_identity(),
                    .device = place().id,
                    .address = reinterpret_cast<std::uintptr_t>(found->memory.get()),
                    .size = found->size.value,
                    .offset = static_cast<std::uint64_t>(memory - found->memory.get())};
    if (with == share.handle.process) {
      share.handle.access = MemoryAccess::Address;
    } else if (found->is_paged) {
      share.handle.access = MemoryAccess::File;
      share.file = UniqueFd(::fcntl(found->file.get(), F_DUPFD_CLOEXEC, 0));
      if (!share.file) return system_error("F_DUPFD_CLOEXEC", errno);
    } else if (shares_by_ != MemoryAccess::Ipc) {
      return Error{ErrorCode::Unsupported, "this device has no handles for other processes"};
    } else {
      share.handle.access = MemoryAccess::Ipc;
      const std::string path = fmt::format("/proc/{}/fd/{}", ::getpid(), found->file.get());
      std::memcpy(share.handle.ipc.data(), path.data(), path.size());
    }
    return share;
  }

  Result<std::byte*> open(const DeviceShare& share) override {
    RINGSIDE_TRY(std::byte* const begin, open_begin(share));
    return begin + share.handle.offset;
  }

 private:
  Result<std::byte*> open_begin(const DeviceShare& share) {
    const DeviceHandle& handle = share.handle;
    const bool is_mine = handle.process == process_identity();
    if (handle.access == MemoryAccess::Address) {
      if (!is_mine) return Error{ErrorCode::Corrupt, "an address of another process"};
      RINGSIDE_TRY(ProcessMemory memory,
                   find_memory(reinterpret_cast<const std::byte*>(handle.address)));
      opened_here_.push_back(std::move(memory));
      return opened_here_.back().get();
    }
    if (handle.access == MemoryAccess::File) return map_file(share.file.get());
    if (is_mine) return Error{ErrorCode::System, "CUDA opens no handle in the process it is of"};
    const UniqueFd file(
        ::open(reinterpret_cast<const char*>(handle.ipc.data()), O_RDWR | O_CLOEXEC));
    if (!file) return system_error("another process's memory", errno);
    return map_file(file.get());
  }

  struct Taken {
    UniqueFd file;
    ProcessMemory memory;
    Bytes size;
    bool is_paged;
  };

  Result<std::byte*> map_file(int file) {
    RINGSIDE_TRY(const std::size_t size, sealed_size(file));
    RINGSIDE_TRY(Mapping mapping, Mapping::map(file, size));
    opened_.push_back(std::move(mapping));
    return opened_.back().data();
  }

  const MemoryAccess shares_by_;
  const bool is_by_pcie_;
  const std::byte number_;
  std::unique_ptr<DeviceMulticast> multicast_;  ///< null without a switch
  std::vector<Taken> taken_;
  std::vector<ProcessMemory> opened_here_;
  std::vector<Mapping> opened_;
};

}  // namespace

std::unique_ptr<DeviceMemory> make_fibre_memory(MemoryAccess shares_by, bool lets_adapters,
                                                std::optional<int> number, bool is_by_pcie) {
  if (shares_by == MemoryAccess::None) return std::make_unique<FibreMemory>(lets_adapters);
  return std::make_unique<FibreMemoryOfHost>(shares_by, lets_adapters, number, is_by_pcie);
}

}  // namespace ringside

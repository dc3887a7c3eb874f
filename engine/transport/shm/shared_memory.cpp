#include "engine/transport/shm/shared_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "base/free_memory.h"
#include "engine/transport/shm/mapping.h"
#include "engine/transport/shm/sealed_file.h"

namespace ringside {
namespace {

class Region final : public SharedRegion {
 public:
  Region(std::uint64_t id, UniqueFd fd, Mapping mapping)
      : id_(id), fd_(std::move(fd)), mapping_(std::move(mapping)) {}
  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] int fd() const override { return fd_.get(); }
  [[nodiscard]] std::byte* data() const override { return mapping_.data(); }
  [[nodiscard]] std::size_t size() const override { return mapping_.size(); }

 private:
  std::uint64_t id_;
  UniqueFd fd_;
  Mapping mapping_;
};

/// All allocations of this process, by the address after their last byte: upper_bound() of any address within an
/// allocation is then that allocation. `count` lets calls without any allocation skip the lock.
struct Registry {
  std::mutex mutex;
  std::map<const std::byte*, std::shared_ptr<const SharedRegion>> regions;
  std::atomic<std::size_t> count{0};
  std::atomic<std::uint64_t> last_id{0};
};

Registry& registry() {
  static Registry all;
  return all;
}

}  // namespace

Result<SharedMemory> SharedMemory::allocate(Bytes size) {
  if (size.value == 0) {
    return Error{ErrorCode::InvalidArgument, "no bytes to allocate", "give 1 or more"};
  }
  // Mapping touches all pages: without enough memory, the kernel would kill a process of this host.
  RINGSIDE_TRY(check_memory(size, "a shared buffer", "allocate less"));
  RINGSIDE_TRY(UniqueFd fd, make_sealed_file(size.value));
  RINGSIDE_TRY(Mapping mapping, Mapping::map(fd.get(), size.value));
  // If the system lets programs choose, large pages make long buffers faster.
  ::madvise(mapping.data(), mapping.size(), MADV_HUGEPAGE);
  Registry& all = registry();
  auto region =
      std::make_shared<const Region>(fresh_region_id(), std::move(fd), std::move(mapping));
  const std::lock_guard lock(all.mutex);
  all.regions[region->data() + region->size()] = region;
  all.count = all.regions.size();
  return SharedMemory(std::move(region));
}

SharedMemory::SharedMemory(std::shared_ptr<const SharedRegion> region)
    : region_(std::move(region)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(region_, other.region_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (region_ == nullptr) return;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.regions.erase(region_->data() + region_->size());
  all.count = all.regions.size();
}

std::byte* SharedMemory::data() const { return region_->data(); }
Bytes SharedMemory::size() const { return Bytes{region_->size()}; }

std::uint64_t fresh_region_id() { return ++registry().last_id; }

std::shared_ptr<const SharedRegion> find_shared(const void* data) {
  Registry& all = registry();
  // Relaxed: a thread that has an address in a region has synchronised with its allocation.
  if (all.count.load(std::memory_order_relaxed) == 0) return nullptr;
  const auto* first = static_cast<const std::byte*>(data);
  const std::lock_guard lock(all.mutex);
  const auto after = all.regions.upper_bound(first);
  if (after == all.regions.end() || first < after->second->data()) return nullptr;
  return after->second;
}

}  // namespace ringside

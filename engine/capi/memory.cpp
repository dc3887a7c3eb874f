// Memory that the ranks of a host read and write in place, and its registration.

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "engine/capi/handles.h"
#include "engine/transport/shm/shared_memory.h"

/// A registered range of memory. The ranks of a host find such ranges without this object.
struct rsWindow {
  rsComm_t comm = nullptr;
  /// Number from Communicator::register_buffer(); 0: a window of rsCommRegister(), which has none
  int number = 0;
};

namespace ringside {
namespace {

/// Returns whether the bytes lie in memory from rsMemAlloc().
bool is_shared(const void* place, size_t size) {
  const auto region = find_shared(place);
  if (region == nullptr) return false;
  const auto offset = static_cast<size_t>(static_cast<const std::byte*>(place) - region->data());
  return size <= region->size() - offset;
}

Error not_shared() {
  return {ErrorCode::InvalidArgument, "the buffer does not lie in memory of rsMemAlloc()",
          "allocate it so; calls take any memory, and read that one in place"};
}

/// Every rank announces its registration before any rank returns.
Status register_window(rsComm_t comm, void* buff, size_t size, rsWindow_t* win) {
  if (win == nullptr)
    return Error{ErrorCode::InvalidArgument, "win is null", "pass the address of a rsWindow_t"};
  *win = nullptr;
  RINGSIDE_TRY(const CommunicatorInUse communicator, communicator_of(comm));
  const std::uint64_t mine = buff != nullptr && is_shared(buff, size) ? size : 0;
  RINGSIDE_TRY(const std::vector<std::byte> all,
               communicator->all_gather_bytes(std::as_bytes(std::span(&mine, 1))));
  for (std::size_t at = 0; at < all.size(); at += sizeof mine) {
    std::uint64_t one = 0;
    std::memcpy(&one, &all[at], sizeof one);
    const std::size_t rank = at / sizeof mine;
    if (one == 0 && mine != 0) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("rank {} has no such memory for the window", rank),
                   "allocate it with rsMemAlloc() on every rank"};
    }
    if (one != mine && mine != 0) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("a window of {} bytes here and of {} on rank {}", mine, one, rank),
                   "register equally many bytes on every rank"};
    }
  }
  if (mine == 0) return not_shared();
  RINGSIDE_TRY(const int number, communicator->register_buffer(buff, Bytes{size}));
  *win = std::make_unique<rsWindow>(rsWindow{comm, number}).release();
  return {};
}

/// The allocations that rsMemAlloc() returned.
class Allocations {
 public:
  Status allocate(void** place, size_t size) {
    if (place == nullptr)
      return Error{ErrorCode::InvalidArgument, "ptr is null", "pass the address of a pointer"};
    RINGSIDE_TRY(SharedMemory memory, SharedMemory::allocate(Bytes{size}));
    *place = memory.data();
    const std::lock_guard lock(mutex_);
    all_.emplace(*place, std::move(memory));
    return {};
  }
  Status free(void* place) {
    const std::lock_guard lock(mutex_);
    if (place == nullptr || all_.erase(place) == 1) return {};
    return Error{ErrorCode::InvalidArgument, "rsMemFree of memory that rsMemAlloc has not given",
                 "give what it gave, once"};
  }

 private:
  std::mutex mutex_;
  std::map<void*, SharedMemory> all_;
};

Allocations& allocations() {
  static Allocations all;
  return all;
}

}  // namespace
}  // namespace ringside

using namespace ringside;

rsResult_t rsMemAlloc(void** ptr, size_t size) {
  return guarded([&] { return allocations().allocate(ptr, size); });
}
rsResult_t rsMemFree(void* ptr) {
  return guarded([&] { return allocations().free(ptr); });
}

rsResult_t rsCommWindowRegister(rsComm_t comm, void* buff, size_t size, rsWindow_t* win,
                                int /*winFlags*/) {
  return guarded([&] { return register_window(comm, buff, size, win); });
}
rsResult_t rsCommWindowDeregister(rsComm_t comm, rsWindow_t win) {
  if (win == nullptr) return rsSuccess;
  if (win->comm != comm) return refuse("a window of another communicator", "give its own");
  const std::unique_ptr<rsWindow> mine(win);
  if (mine->number == 0) return rsSuccess;
  return guarded([&]() -> Status {
    RINGSIDE_TRY(const CommunicatorInUse communicator, communicator_of(comm));
    communicator->deregister_buffer(mine->number);
    return {};
  });
}
rsResult_t rsCommRegister(rsComm_t comm, void* buff, size_t size, void** handle) {
  return guarded([&]() -> Status {
    if (comm == nullptr || buff == nullptr || handle == nullptr) {
      return Error{ErrorCode::InvalidArgument, "null argument", "give all three"};
    }
    *handle = nullptr;
    if (!is_shared(buff, size)) return not_shared();
    *handle = std::make_unique<rsWindow>(rsWindow{comm, 0}).release();
    return {};
  });
}
rsResult_t rsCommDeregister(rsComm_t comm, void* handle) {
  return rsCommWindowDeregister(comm, static_cast<rsWindow_t>(handle));
}

#include "engine/cuda/device/process_memory.h"

#include <map>
#include <mutex>
#include <utility>

namespace ringside {
namespace {

struct OfferedMemory {
  std::mutex mutex;
  std::map<const std::byte*, std::weak_ptr<std::byte>> all;
};

OfferedMemory& offered_memory() {
  static OfferedMemory offered;
  return offered;
}

}  // namespace

ProcessMemory offer_memory(std::byte* memory, std::function<void(std::byte*)> release) {
  ProcessMemory held(memory, std::move(release));
  OfferedMemory& offered = offered_memory();
  const std::lock_guard lock(offered.mutex);
  std::erase_if(offered.all, [](const auto& one) { return one.second.expired(); });
  offered.all.insert_or_assign(memory, held);
  return held;
}

Result<ProcessMemory> find_memory(const std::byte* memory) {
  OfferedMemory& offered = offered_memory();
  const std::lock_guard lock(offered.mutex);
  const auto found = offered.all.find(memory);
  ProcessMemory held = found == offered.all.end() ? nullptr : found->second.lock();
  if (held != nullptr) return held;
  return Error{ErrorCode::System, "the other rank's memory is not there any more",
               "it has failed: look for its error"};
}

}  // namespace ringside

#include "engine/cuda/links/process_windows.h"

#include <algorithm>
#include <cstring>

#include "engine/runtime/bootstrap/bootstrap.h"

namespace ringside {
namespace {

/// The description of registered memory that a rank sends to the others.
struct Registered {
  std::uint64_t base = 0;  ///< 0: it cannot be shared
};

std::vector<Registered> registered_in(const std::vector<std::byte>& bytes) {
  std::vector<Registered> all(bytes.size() / sizeof(Registered));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

Result<std::unique_ptr<ProcessWindows>> ProcessWindows::make(Bootstrap& bootstrap,
                                                             DeviceMemory& memory,
                                                             ProcessLinks& links) {
  std::unique_ptr<ProcessWindows> windows(new ProcessWindows(bootstrap, memory, links));
  const std::size_t entries = (kMost + 1) * static_cast<std::size_t>(bootstrap.nranks());
  RINGSIDE_TRY(std::byte* const place, memory.take(Bytes{entries * sizeof(std::int64_t)}));
  windows->offsets_ = reinterpret_cast<std::int64_t*>(place);
  return windows;
}

Result<int> ProcessWindows::add(std::byte* base, Bytes size, Deadline deadline) {
  if (count_ == kMost) return 0;
  const int number = ++count_;
  const auto me = static_cast<std::size_t>(to_int(bootstrap_.rank()));
  const bool is_shared = links_.can_share(base);
  const Registered mine{is_shared ? reinterpret_cast<std::uintptr_t>(base) : 0};
  RINGSIDE_TRY(const std::vector<std::byte> gathered,
               bootstrap_.all_gather(std::as_bytes(std::span(&mine, 1)), deadline));
  const std::vector<Registered> all = registered_in(gathered);
  std::vector<std::byte> shares;
  for (const Registered& one : all) shares.push_back(std::byte{one.base != 0});
  RINGSIDE_TRY(const std::vector<std::byte*> places,
               links_.exchange_memory(base, shares, static_cast<std::uint32_t>(number), deadline));
  std::vector<std::int64_t> offsets(all.size(), 0);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (places[rank] == nullptr) continue;
    offsets[rank] =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(places[rank]) - all[rank].base);
  }
  offsets[me] = 0;
  const std::size_t first = static_cast<std::size_t>(number) * offsets.size();
  RINGSIDE_TRY(memory_.write(reinterpret_cast<std::byte*>(offsets_ + first),
                             std::as_bytes(std::span(offsets))));
  if (is_shared) mine_.push_back({number, {base, size.value}});
  return number;
}

DeviceWindows ProcessWindows::on_device() const {
  return {offsets_, static_cast<std::int32_t>(bootstrap_.nranks())};
}

void ProcessWindows::remove(int number) {
  std::erase_if(mine_, [&](const Window& one) { return one.number == number; });
}

std::int16_t ProcessWindows::window_of(const std::vector<MemoryRange>& writes) const {
  for (const Window& one : mine_) {
    const auto lies_in = [&](const MemoryRange& range) {
      return range.begin >= one.memory.begin &&
             range.begin + range.size <= one.memory.begin + one.memory.size;
    };
    if (!writes.empty() && std::ranges::all_of(writes, lies_in)) {
      return static_cast<std::int16_t>(one.number);
    }
  }
  return 0;
}

}  // namespace ringside

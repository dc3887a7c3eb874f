#include "tests/cuda/fibre_switch.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/assert.h"

namespace ringside {
namespace {

struct Range {
  std::byte* all = nullptr;
  std::size_t bytes = 0;
  std::vector<std::byte*> copies;
  std::uint32_t* bound = nullptr;
};

/// The address ranges of this process that a switch serves.
struct Ranges {
  std::mutex mutex;
  std::vector<Range> all;
};
Ranges& ranges() {
  static Ranges all;
  return all;
}

}  // namespace

Result<std::byte*> FibreSwitch::join(const std::vector<std::byte*>& copies, std::size_t bytes,
                                     std::uint32_t* bound) {
  void* const all = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return system_error("addresses of a switch", errno);
  const std::lock_guard lock(ranges().mutex);
  ranges().all.push_back({static_cast<std::byte*>(all), bytes, copies, bound});
  return static_cast<std::byte*>(all);
}

std::vector<std::byte*> FibreSwitch::places(const std::byte* at) {
  const std::lock_guard lock(ranges().mutex);
  const auto found = std::ranges::find_if(ranges().all, [&](const Range& range) {
    return at >= range.all && at < range.all + range.bytes;
  });
  RINGSIDE_ASSERT(found != ranges().all.end(), "{} is no address of a switch",
                  static_cast<const void*>(at));
  RINGSIDE_ASSERT(
      found->bound == nullptr || std::atomic_ref(*found->bound).load() == found->copies.size(),
      "a kernel uses what {} of {} members have bound", *found->bound, found->copies.size());
  std::vector<std::byte*> places = found->copies;
  for (std::byte*& place : places) place += at - found->all;
  return places;
}

}  // namespace ringside

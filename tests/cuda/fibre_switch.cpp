#include "tests/cuda/fibre_switch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.h"

namespace ringside {
namespace {

struct Range {
  std::byte* all = nullptr;
  std::size_t bytes = 0;
  std::vector<std::byte*> copies;
};

std::vector<Range>& ranges() {
  static std::vector<Range> all;
  return all;
}

}  // namespace

Result<std::byte*> FibreSwitch::join(const std::vector<std::byte*>& copies, std::size_t bytes) {
  void* const all = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return system_error("addresses of a switch", errno);
  ranges().push_back({static_cast<std::byte*>(all), bytes, copies});
  return static_cast<std::byte*>(all);
}

std::vector<std::byte*> FibreSwitch::places(const std::byte* at) {
  const auto found = std::ranges::find_if(ranges(), [&](const Range& range) {
    return at >= range.all && at < range.all + range.bytes;
  });
  RINGSIDE_ASSERT(found != ranges().end(), "{} is no address of a switch",
                  static_cast<const void*>(at));
  std::vector<std::byte*> places = found->copies;
  for (std::byte*& place : places) place += at - found->all;
  return places;
}

}  // namespace ringside

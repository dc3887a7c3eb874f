#include "engine/reduce/copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#define HWY_BROKEN_EMU128 0  // for the reason given in kernels.cpp
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduce/copy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h, whose macros it needs.
#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace ringside::HWY_NAMESPACE {

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t width = hn::Lanes(d);
  // Streaming stores write whole vectors at aligned addresses.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(to) % width;
  const std::size_t head = std::min(bytes, past == 0 ? 0 : width - past);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + 4 * width <= bytes; at += 4 * width) {
    const auto* source = reinterpret_cast<const std::uint8_t*>(from + at);
    auto* target = reinterpret_cast<std::uint8_t*>(to + at);
    const auto v0 = hn::LoadU(d, source);
    const auto v1 = hn::LoadU(d, source + width);
    const auto v2 = hn::LoadU(d, source + 2 * width);
    const auto v3 = hn::LoadU(d, source + 3 * width);
    hn::Stream(v0, d, target);
    hn::Stream(v1, d, target + width);
    hn::Stream(v2, d, target + 2 * width);
    hn::Stream(v3, d, target + 3 * width);
  }
  hwy::FlushStream();
  if (at < bytes) std::memcpy(to + at, from + at, bytes - at);
}

}  // namespace ringside::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringside {

HWY_EXPORT(copy_streaming);

void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  HWY_DYNAMIC_DISPATCH(copy_streaming)(to, from, bytes);
}

}  // namespace ringside
#endif

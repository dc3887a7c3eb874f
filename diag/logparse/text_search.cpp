#include "diag/logparse/text_search.h"

#include <bit>
#include <cstdint>
#include <cstring>

// Compiled once for each instruction set, and chosen when it runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "diag/logparse/text_search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ringside::logs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::size_t FindText(std::string_view text, std::string_view sought, std::size_t from) {
  const hn::CappedTag<std::uint8_t, 32> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t length = sought.size();
  const auto first = hn::Set(d, static_cast<std::uint8_t>(sought.front()));
  const auto last = hn::Set(d, static_cast<std::uint8_t>(sought.back()));
  for (; from + length + lanes - 1 <= text.size(); from += lanes) {
    const auto* const at = reinterpret_cast<const std::uint8_t*>(text.data()) + from;
    const auto is_both =
        hn::And(hn::Eq(hn::LoadU(d, at), first), hn::Eq(hn::LoadU(d, at + length - 1), last));
    std::uint64_t places = 0;
    hn::StoreMaskBits(d, is_both, reinterpret_cast<std::uint8_t*>(&places));
    for (; places != 0; places &= places - 1) {
      const std::size_t place = from + static_cast<std::size_t>(std::countr_zero(places));
      if (std::memcmp(text.data() + place + 1, sought.data() + 1, length - 2) == 0) return place;
    }
  }
  return text.find(sought, from);
}

}  // namespace ringside::logs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringside::logs {

HWY_EXPORT(FindText);

std::size_t find_text(std::string_view text, std::string_view sought, std::size_t from) {
  return HWY_DYNAMIC_DISPATCH(FindText)(text, sought, from);
}

}  // namespace ringside::logs
#endif

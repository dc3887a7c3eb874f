#include "diag/logparse/newlines.h"

// Compiled once for each instruction set, and chosen when it runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "diag/logparse/newlines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ringside::logs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The line ends among up to 64 characters from `at` on, one bit each.
struct Ends {
  std::uint32_t* out;
  bool is_odd;

  void take(std::size_t at, std::uint64_t newlines, std::uint64_t odd) {
    // Most lines are longer than these 64 characters and contain no control characters, so there is at most one end.
    // It is stored unconditionally, and overwritten later if there is none.
    const std::uint64_t others = newlines & (newlines - 1);
    if (others == 0 && odd == 0 && !is_odd) {
      *out = static_cast<std::uint32_t>(at + lowest_bit(newlines));
      out += newlines != 0 ? 1 : 0;
      return;
    }
    for (; newlines != 0; newlines &= newlines - 1) {
      const std::uint64_t below = (newlines & (0 - newlines)) - 1;
      const bool is_line_odd = is_odd || (odd & below) != 0;
      *out++ = static_cast<std::uint32_t>(at + lowest_bit(newlines)) | (is_line_odd ? kOddLine : 0);
      odd &= ~below;
      is_odd = false;
    }
    is_odd |= odd != 0;
  }

 private:
  static std::size_t lowest_bit(std::uint64_t bits) {
    return hwy::Num0BitsBelowLS1Bit_Nonzero64(bits | std::uint64_t{1} << 63);
  }
};

std::size_t FindLineEnds(const char* data, std::size_t size, std::uint32_t* ends, bool* is_odd) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
  const auto newline = hn::Set(d, std::uint8_t{'\n'});
  const auto tab = hn::Set(d, std::uint8_t{'\t'});
  const auto last_control = hn::Set(d, std::uint8_t{0x1F});
  Ends found{ends, *is_odd};
  std::size_t at = 0;
  for (; at + lanes <= size; at += lanes) {
    const auto v = hn::LoadU(d, bytes + at);
    const auto is_newline = hn::Eq(v, newline);
    const auto is_control = hn::Eq(hn::Min(v, last_control), v);
    const auto is_bad = hn::AndNot(hn::Or(is_newline, hn::Eq(v, tab)), is_control);
    std::uint64_t newlines = 0;
    std::uint64_t odd = 0;
    hn::StoreMaskBits(d, is_newline, reinterpret_cast<std::uint8_t*>(&newlines));
    hn::StoreMaskBits(d, is_bad, reinterpret_cast<std::uint8_t*>(&odd));
    found.take(at, newlines, odd);
  }
  for (; at < size; ++at) {
    const std::uint8_t c = bytes[at];
    found.take(at, c == '\n' ? 1 : 0, c < 0x20 && c != '\t' && c != '\n' ? 1 : 0);
  }
  *is_odd = found.is_odd;
  return static_cast<std::size_t>(found.out - ends);
}

}  // namespace ringside::logs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringside::logs {

HWY_EXPORT(FindLineEnds);

std::size_t find_line_ends(const char* data, std::size_t size, std::uint32_t* ends, bool& is_odd) {
  return HWY_DYNAMIC_DISPATCH(FindLineEnds)(data, size, ends, &is_odd);
}

}  // namespace ringside::logs
#endif

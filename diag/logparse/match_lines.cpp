#include "diag/logparse/match_lines.h"

#include <algorithm>
#include <cstring>

#include "diag/logparse/blocks.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/newlines.h"
#include "diag/logparse/quick_text.h"

// Compiled once for each instruction set, and chosen when it runs.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "diag/logparse/match_lines.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace ringside::logs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
/// Without vectors, matching is not faster than parsing.
void MatchLines(const char* /*begin*/, const char* /*block*/, std::span<const std::uint32_t> ends,
                const LinesToMatch& /*known*/, LineMatch* matches) {
  std::fill_n(matches, ends.size(), LineMatch{});
}
#else

using Chars = hn::CappedTag<std::uint8_t, 64>;

/// Tests 64 characters; returns one bit per character.
template <typename Is>
HWY_INLINE std::uint64_t bits_of(const char* text, Is is) {
  const Chars d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t bits = 0;
  for (std::size_t at = 0; at < 64; at += lanes) {
    std::uint64_t part = 0;
    const auto characters = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(text) + at);
    hn::StoreMaskBits(d, is(characters, at), reinterpret_cast<std::uint8_t*>(&part));
    bits |= part << at;
  }
  return bits;
}

HWY_INLINE std::uint64_t where(const char* text, char sought) {
  const auto every = hn::Set(Chars(), static_cast<std::uint8_t>(sought));
  return bits_of(text, [&](auto part, std::size_t /*at*/) HWY_ATTR { return hn::Eq(part, every); });
}

HWY_INLINE std::uint64_t where_different(const char* a, const char* b) {
  const auto* const other = reinterpret_cast<const std::uint8_t*>(b);
  return ~bits_of(a, [&](auto part, std::size_t at)
                         HWY_ATTR { return hn::Eq(part, hn::LoadU(Chars(), other + at)); });
}

/// source  the golden ratio and a prime: multipliers of XXH64
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
constexpr std::uint64_t kOther = 0xC2B2AE3D27D4EB4FU;

HWY_INLINE std::uint64_t mixed(std::uint64_t hash) { return hash ^ (hash >> 32); }

/// Returns the lowest `size` bits.
HWY_INLINE std::uint64_t lowest(std::size_t size) {
  return size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << size) - 1;
}

/// Returns the index of the lowest set bit; 63 if there is none.
HWY_INLINE std::size_t lowest_bit(std::uint64_t bits) {
  return hwy::Num0BitsBelowLS1Bit_Nonzero64(bits | std::uint64_t{1} << 63);
}

/// Returns a hash of the last bytes, in which prefixes differ most.
HWY_INLINE std::uint64_t prefix_hash(const char* line, std::size_t size) {
  const char* const end = line + size;
  const std::uint64_t before = word_at(size >= 16 ? end - 16 : line);
  return mixed((word_at(end - 8) * kOther ^ before ^ size) * kMix);
}

/// `n01:411:980 [3] NCCL INFO `
HWY_INLINE bool find_text(const char* line, std::size_t size, LineMatch& match) {
  const std::size_t blank = lowest_bit(where(line, ' '));
  const bool has_two_digits = line[blank + 4] == ']';
  const char* const behind = line + blank + (has_two_digits ? 4 : 3);
  constexpr std::string_view kInfo = "] NCCL INFO ";  // read as two overlapping words
  const auto low = static_cast<unsigned>(behind[-1] - '0');
  const auto high = static_cast<unsigned>(line[blank + 2] - '0');
  const bool is_form = word_at(behind) == word_at(kInfo.data()) &&
                       word_at(behind + 4) == word_at(kInfo.data() + 4) && line[blank + 1] == '[' &&
                       low < 10 && high < 10 && blank >= 8 && blank <= KnownPrefix::kMost &&
                       blank + 16 <= size;
  if (!is_form) return false;
  match.prefix_size = static_cast<std::uint8_t>(blank);
  match.text_at = static_cast<std::uint8_t>(blank + (has_two_digits ? 16 : 15));
  match.device = static_cast<std::int16_t>(has_two_digits ? high * 10 + low : low);
  match.prefix_hash = prefix_hash(line, blank);
  return true;
}

/// `AllReduce: opCount 1f `, with a blank after the colon.
HWY_INLINE bool is_call(const char* text, std::size_t size, std::size_t blank) {
  return size >= 64 && word_at(text + blank) == word_at(" opCount") && text[blank + 8] == ' ' &&
         blank > 1 && blank < 17 && text[blank - 1] == ':' && is_letter(text[0]);
}

/// Computes a key from the text's constant part, using a few characters: some of the text itself, or, if its numbers
/// differ, the positions of its blanks.
HWY_INLINE void find_key(const char* text, std::size_t size, LineMatch& match) {
  if (size < 16 || size > TextBits::kMost) return;
  const std::uint64_t blanks = where(text, ' ') & lowest(size);
  const bool is_edge = word_at(text) == word_at("Channel ");
  match.has_fields = is_edge || is_call(text, size, lowest_bit(blanks));
  const char* const end = text + size;
  std::uint64_t key = (blanks ^ size << 48) * kMix;
  if (match.has_fields) {
    key ^= word_at(is_edge ? end - 8 : text) * kOther;
  } else {
    const char* const middle = text + size / 2 - 8;
    key ^= (word_at(text) ^ word_at(end - 8) * kMix) * kOther;
    key ^= mixed((word_at(text + 8) ^ word_at(end - 16) * kOther) * kMix);
    key ^= mixed((word_at(middle) ^ word_at(middle + 8) * kMix) * kOther) << 1;
  }
  match.key = mixed(key * kMix) | 1;
}

HWY_INLINE bool is_prefix(const char* line, std::size_t size, const KnownPrefix& known) {
  return known.size == size && (where_different(line, known.bytes.data()) & lowest(size)) == 0;
}

HWY_INLINE bool is_text(const char* text, std::size_t size, const KnownText& known,
                        LineMatch& match) {
  if (known.size != size || known.key != match.key) return false;
  const char* const own = known.text.data();
  std::uint64_t wrong = 0;
  std::uint64_t seldom = 0;
  for (std::size_t word = 0; word * 64 < size; ++word) {
    const std::uint64_t different = where_different(text + word * 64, own + word * 64);
    wrong |= different & known.literal.words[word];
    seldom |= different & known.seldom.words[word];
  }
  match.differs_seldom = seldom != 0;
  return wrong == 0;
}

/// In a large file, the next block is prefetched from memory while this one is parsed.
constexpr std::size_t kAhead = Blocks::kMost;

void MatchLines(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                const LinesToMatch& known, LineMatch* matches) {
  const auto end_of = [&](std::size_t i) { return block + (ends[i] & ~kOddLine); };
  // Computes all addresses first, and compares when the data has been fetched.
  const char* line = begin;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const char* const end = end_of(i);
    LineMatch& match = matches[i];
    match = {};
    for (const char* at = line; at < end; at += 64) hwy::Prefetch(at + kAhead);
    if (find_text(line, static_cast<std::size_t>(end - line), match)) {
      const char* const text = line + match.text_at;
      find_key(text, static_cast<std::size_t>(end - text), match);
      match.prefix = known.prefix_slots.find(match.prefix_hash);
      match.text = match.key == 0 ? LineMatch::kNone : known.text_slots.find(match.key);
      if (match.prefix != LineMatch::kNone) hwy::Prefetch(&known.prefixes[match.prefix]);
    }
    line = end + 1;
  }
  line = begin;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const char* const end = end_of(i);
    LineMatch& match = matches[i];
    if (match.prefix != LineMatch::kNone &&
        !is_prefix(line, match.prefix_size, known.prefixes[match.prefix])) {
      match.prefix = LineMatch::kNone;
    }
    const char* const text = line + match.text_at;
    if (match.text != LineMatch::kNone &&
        !is_text(text, static_cast<std::size_t>(end - text), known.texts[match.text], match)) {
      match.text = LineMatch::kNone;
    }
    line = end + 1;
  }
}

#endif
}  // namespace ringside::logs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringside::logs {

HWY_EXPORT(MatchLines);

void match_lines(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                 const LinesToMatch& known, LineMatch* matches) {
  HWY_DYNAMIC_DISPATCH(MatchLines)(begin, block, ends, known, matches);
}

void with_each_instruction_set(const std::function<void(const char* name)>& run) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    run(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace ringside::logs
#endif

#include "diag/logparse/known_texts.h"

#define XXH_INLINE_ALL  // most texts are short: the call would cost as much as the hash
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "diag/logparse/noting_cursor.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/quick_text.h"

namespace ringside::logs {
namespace {

constexpr std::size_t kEntries = 1024;  // three quarters of a MiB: they stay in the second cache
constexpr std::size_t kLeastText = 16;  // what is compared at once

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
  return hash ^ (hash >> 29);
}

/// `Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM`
bool is_edge(std::string_view text) { return std::memcmp(text.data(), "Channel ", 8) == 0; }

/// `AllReduce: opCount 1f ...`
bool is_call(std::string_view text) {
  if (static_cast<unsigned>((text.front() | 0x20) - 'a') > 25 || text.size() < 64) return false;
  const std::size_t colon = find_character<16>(text.data(), ':');
  return colon < 16 && std::memcmp(text.data() + colon, ": opCount ", 10) == 0;
}

/// A decimal number.
/// shape  eight characters can be read before its end
bool read_decimal(const char* digits, std::size_t size, std::uint64_t& value) {
  if (size <= 8) return short_number({digits, size}, value);
  std::uint64_t high = 0;
  if (size > 16 || !short_number({digits, size - 8}, high) ||
      !short_number({digits + size - 8, 8}, value)) {
    return false;
  }
  value += high * 100'000'000;
  return true;
}

}  // namespace

KnownTexts::KnownTexts() : entries_(kEntries), seen_(kEntries) {}

/// What does not differ between texts that are known together: all of it, or where its blanks are.
void KnownTexts::find_key(std::string_view text) {
  const std::size_t size = text.size();
  const char* const end = text.data() + size;
  const bool is_of_edge = is_edge(text);
  has_fields_ = is_of_edge || is_call(text);
  std::uint64_t key = mixed(size, std::uint64_t{has_fields_});
  if (has_fields_) {
    blanks_ = {};
    for (std::size_t at = 0; at < size; at += 64) {
      key = mixed(key, blanks_[at / 64] = blanks_of(text.data() + at, size - at, at));
    }
    key = mixed(key, word_at(is_of_edge ? end - 8 : text.data()));
  } else {
    key = XXH3_64bits(text.data(), size);
  }
  key_ = key;
}

bool KnownTexts::is_as_learned(const Entry& entry, std::string_view text) const {
  if (!has_fields_) return std::memcmp(entry.text.data(), text.data(), text.size()) == 0;
  return entry.blanks == blanks_ &&
         is_same_where(text.data(), entry.text.data(), entry.literal.data(), text.size());
}

bool KnownTexts::recall(std::string_view text, Record& record) {
  if (text.size() < kLeastText || text.size() > kMostText) return false;
  find_key(text);
  const Entry& entry = entries_[key_ % kEntries];
  if (entry.key != key_ || entry.size != text.size() || !is_as_learned(entry, text)) return false;
  std::array<std::uint64_t, kMostFields> numbers;
  for (std::size_t i = 0; i < entry.nfields; ++i) {
    const Field& field = entry.fields[i];
    const char* const digits = text.data() + field.at;
    const bool is_number = field.base == 10 ? read_decimal(digits, field.size, numbers[i])
                                            : all_hex_digits({digits, field.size}, numbers[i]);
    if (!is_number) return false;
  }
  record.take_meaning(entry.meaning);
  for (std::size_t i = 0; i < entry.nfields; ++i) {
    const Field& field = entry.fields[i];
    std::byte* const to = reinterpret_cast<std::byte*>(&record) + field.to;
    if (field.width == 8) {
      std::memcpy(to, &numbers[i], 8);
    } else if (field.width == 4) {
      const auto number = static_cast<std::uint32_t>(numbers[i]);
      std::memcpy(to, &number, 4);
    } else {
      const auto number = static_cast<std::uint16_t>(numbers[i]);
      std::memcpy(to, &number, 2);
    }
  }
  return true;
}

bool KnownTexts::wants(std::string_view text) {
  if (text.size() < kLeastText || text.size() > kMostText) return false;
  std::uint64_t& seen = seen_[key_ % kEntries];
  const bool is_second = seen == key_;
  seen = key_;
  return is_second;
}

void KnownTexts::learn(std::string_view text) {
  Entry& entry = entries_[key_ % kEntries];
  entry = {};
  std::copy(text.begin(), text.end(), entry.text.begin());
  const std::string_view own(entry.text.data(), text.size());
  entry.meaning.kind = RecordKind::Unknown;
  entry.meaning.level = Level::Info;
  TextFields fields;
  if (has_fields_) {
    const Parsed parsed = is_edge(own) ? note_channel(own, entry.meaning, fields)
                                       : note_call(own, entry.meaning, fields);
    const bool is_kind =
        entry.meaning.kind == RecordKind::ChannelEdge || entry.meaning.kind == RecordKind::CollCall;
    if (parsed != Parsed::Whole || !is_kind) return;
    entry.literal.fill(255);
  } else {
    const Parsed parsed = parse_nccl_text(own, Level::Info, entry.meaning);
    if (parsed != Parsed::Whole && parsed != Parsed::Open) return;
  }
  const auto* const start = reinterpret_cast<const std::byte*>(&entry.meaning);
  for (std::size_t i = 0; i < fields.count; ++i) {
    const TextFields::Field& field = fields.fields[i];
    std::fill_n(entry.literal.begin() + field.at, field.size, std::uint8_t{0});
    const auto to = reinterpret_cast<const std::byte*>(field.to) - start;
    const bool is_kept = field.width > 0 && to >= 0 && to < std::ptrdiff_t{sizeof(Record)};
    if (!is_kept) continue;
    // A number that might not fit is left to the parser.
    const std::size_t most = field.base == 16   ? 16
                             : field.width == 2 ? 4
                             : field.width == 4 ? 9
                                                : 16;
    if (field.size > most) return;
    entry.fields[entry.nfields++] = {field.at, field.size, field.base, field.width,
                                     static_cast<std::uint16_t>(to)};
  }
  entry.blanks = blanks_;
  entry.key = key_;
  entry.size = static_cast<std::uint16_t>(text.size());
}

}  // namespace ringside::logs

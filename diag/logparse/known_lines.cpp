#include "diag/logparse/known_lines.h"

#include <algorithm>
#include <cstring>

#include "diag/logparse/match_lines.h"
#include "diag/logparse/noting_cursor.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/quick_text.h"

namespace ringside::logs {
namespace {

// Half a MiB each: both tables fit into the second-level cache.
constexpr std::uint32_t kPrefixes = 8192;  // enough for the threads of thousands of ranks
constexpr std::uint32_t kTexts = 1024;

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

void store(std::byte* to, std::uint64_t number, std::uint8_t width) {
  if (width == 8) {
    std::memcpy(to, &number, 8);
  } else if (width == 4) {
    const auto narrow = static_cast<std::uint32_t>(number);
    std::memcpy(to, &narrow, 4);
  } else {
    const auto narrow = static_cast<std::uint16_t>(number);
    std::memcpy(to, &narrow, 2);
  }
}

/// Returns the number of digits that always fit a field of that size.
std::size_t most_digits(const TextFields::Field& field) {
  if (field.base == 16) return field.width == 8 ? 16 : 0;
  return field.width == 8 ? 16 : field.width == 4 ? 9 : field.width == 2 ? 4 : 0;
}

/// Returns the characters that may differ because they belong to a field: in words that start with a digit, the digits
/// of a number and its base; the number of a call after `opCount`; in the line of a connection, every digit.
TextBits numbers_of(std::string_view text, bool is_edge) {
  TextBits numbers;
  bool is_number = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_start = at == 0 || text[at - 1] == ' ';
    if (is_start) is_number = is_digit(text[at]) || text.substr(0, at).ends_with(" opCount ");
    if (text[at] != ' ' && (is_number || (is_edge && is_digit(text[at])))) numbers.set(at);
  }
  return numbers;
}

}  // namespace

KnownLines::KnownLines()
    : prefix_slots_(kPrefixes),
      text_slots_(kTexts),
      prefixes_(kPrefixes),
      texts_(kTexts),
      seen_(kTexts) {}

void KnownLines::match(const char* begin, const char* block, std::span<const std::uint32_t> ends,
                       LineMatch* matches) const {
  match_lines(begin, block, ends, {prefix_slots_, text_slots_, prefixes_, texts_}, matches);
}

bool KnownText::fill(std::string_view from, bool with_seldom, Record& record) const {
  record.take_meaning(meaning);
  const std::size_t count = with_seldom ? nfields : nusual;
  for (std::size_t i = 0; i < count; ++i) {
    const Field& field = fields[i];
    const char* const digits = from.data() + field.at;
    std::uint64_t number = 0;
    const bool is_number = field.base == 10 ? read_decimal(digits, field.size, number)
                                            : all_hex_digits({digits, field.size}, number);
    if (!is_number) return false;
    store(reinterpret_cast<std::byte*>(&record) + field.to, number, field.width);
  }
  return true;
}

void KnownLines::learn_prefix(std::string_view line, std::uint32_t speaker, std::int32_t tid,
                              std::span<LineMatch> matches) {
  const LineMatch& match = matches.front();
  const std::uint32_t slot = prefix_slots_.take(match.prefix_hash);
  KnownPrefix& known = prefixes_[slot];
  known.size = match.prefix_size;
  known.speaker = speaker;
  known.tid = tid;
  std::copy_n(line.data(), match.prefix_size, known.bytes.data());
  for (LineMatch& other : matches) {
    if (other.prefix == slot) other.prefix = LineMatch::kNone;
  }
}

bool KnownLines::note_unknown(const LineMatch& match) {
  if (match.key == 0) return false;
  const std::uint32_t slot = text_slots_.find(match.key);
  const bool is_hopeless =
      slot != HashSlots::kNone && texts_[slot].key == match.key && texts_[slot].size == 0;
  if (is_hopeless) return false;
  std::uint64_t& seen = seen_[match.key % kTexts];
  const bool is_second = seen == match.key;
  seen = match.key;
  return is_second;
}

/// Parses a text for the table of known lines: stores its meaning, which refers to known.text, and its fields.
bool KnownLines::parse_for_learning(std::string_view text, const LineMatch& match,
                                    KnownText& known) {
  known.meaning.kind = RecordKind::Unknown;
  known.meaning.level = Level::Info;
  for (std::size_t at = 0; at < text.size(); ++at) known.literal.set(at);
  if (!match.has_fields) {
    const Parsed parsed = parse_nccl_text(text, Level::Info, known.meaning);
    if (known.meaning.kind == RecordKind::Message) {
      known.blanks = static_cast<std::uint8_t>(text.size() - trimmed_left(text).size());
    }
    known.continues = may_go_on(known.meaning);
    return (parsed == Parsed::Whole || parsed == Parsed::Open) &&
           known.meaning.kind != RecordKind::Unknown;
  }
  TextFields fields;
  const bool is_edge = text.starts_with("Channel ");
  const Parsed parsed =
      is_edge ? note_channel(text, known.meaning, fields) : note_call(text, known.meaning, fields);
  const RecordKind kind = is_edge ? RecordKind::ChannelEdge : RecordKind::CollCall;
  if (parsed != Parsed::Whole || known.meaning.kind != kind) return false;

  const TextBits numbers = numbers_of(text, is_edge);
  std::array<KnownText::Field, KnownText::kMostFields> seldom{};
  std::size_t nseldom = 0;
  for (std::size_t i = 0; i < fields.count; ++i) {
    const TextFields::Field& field = fields.fields[i];
    const std::size_t end = std::size_t{field.at} + field.size;
    bool may_differ = false;
    for (std::size_t at = field.at; at < end; ++at) {
      if (!numbers.has(at)) continue;
      may_differ = true;
      known.literal.words[at / 64] &= ~(std::uint64_t{1} << (at % 64));
    }
    const auto to = reinterpret_cast<const std::byte*>(field.to) -
                    reinterpret_cast<const std::byte*>(&known.meaning);
    const bool is_kept = field.width > 0 && to >= 0 && to < std::ptrdiff_t{sizeof(Record)};
    if (!may_differ || !is_kept) continue;
    // A number that may not fit is parsed by the normal path.
    if (field.size > most_digits(field)) return false;
    const KnownText::Field mine{field.at, field.size, field.base, field.width,
                                static_cast<std::uint16_t>(to)};
    if (field.size > 1 || field.base == 16) {
      known.fields[known.nusual++] = mine;
    } else {
      known.seldom.set(field.at);
      seldom[nseldom++] = mine;
    }
  }
  std::stable_partition(known.fields.begin(), known.fields.begin() + known.nusual,
                        [](const KnownText::Field& field) { return field.base == 16; });
  std::copy_n(seldom.begin(), nseldom, known.fields.begin() + known.nusual);
  known.nfields = static_cast<std::uint8_t>(known.nusual + nseldom);
  return true;
}

void KnownLines::learn_text(std::string_view text, std::span<LineMatch> matches) {
  const LineMatch& match = matches.front();
  const std::uint32_t slot = text_slots_.take(match.key);
  KnownText& known = texts_[slot];
  known = {};
  std::copy(text.begin(), text.end(), known.text.begin());
  known.key = match.key;
  const std::string_view own(known.text.data(), text.size());
  if (parse_for_learning(own, match, known)) known.size = static_cast<std::uint16_t>(text.size());
  for (LineMatch& other : matches) {
    if (other.text == slot) other.text = LineMatch::kNone;
  }
}

}  // namespace ringside::logs

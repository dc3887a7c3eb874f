#include "diag/logparse/benchmark_records.h"

#include "diag/logparse/cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

/// `  Rank  0 Group  0 Pid 25 on node-a device  0 [0x53] NVIDIA H100`, after `#`.
Parsed rank_line(Cursor cursor, Record& record) {
  BenchmarkRank rank;
  cursor.skip_blanks();
  if (!cursor.eat("Rank ")) return Parsed::No;
  const auto take = [&cursor](std::string_view key, std::int32_t& value) {
    cursor.skip_blanks();
    if (!cursor.eat(key)) return false;
    cursor.skip_blanks();
    return cursor.number(value);
  };
  cursor.skip_blanks();
  if (!cursor.number(rank.rank)) return Parsed::No;
  take("Group ", rank.group);
  if (!take("Pid ", rank.pid) || !cursor.eat(" on ")) return Parsed::Broken;
  cursor.skip_blanks();
  if (!cursor.word(rank.host) || !take("device ", rank.device)) return Parsed::Broken;
  cursor.skip_blanks();
  if (cursor.eat('[')) cursor.until(']', rank.pci);
  rank.name = trimmed(cursor.rest());
  record.make<BenchmarkRank>() = rank;
  return Parsed::Open;
}

Parsed comment(std::string_view text, Record& record) {
  Cursor cursor(text);
  cursor.eat('#');
  if (cursor.eat(" Avg bus bandwidth")) {
    BenchmarkAverage average;
    cursor.skip_blanks();
    cursor.eat(':');
    cursor.skip_blanks();
    if (!cursor.real(average.busbw_gbs)) return Parsed::Broken;
    average.verdict = trimmed(cursor.rest());
    record.make<BenchmarkAverage>() = average;
    return Parsed::Open;
  }
  const Parsed rank = rank_line(cursor, record);
  if (rank != Parsed::No) return rank;
  cursor.skip_blanks();
  if (!cursor.eat("size ")) return Parsed::No;
  BenchmarkHeading heading;
  heading.names = trimmed(text.substr(text.find("size ")));
  if (!contains(heading.names, "count")) return Parsed::No;
  heading.has_redop = contains(heading.names, "redop");
  heading.has_root = contains(heading.names, "root");
  record.make<BenchmarkHeading>() = heading;
  return Parsed::Open;
}

/// `0e+00`, `12.5`, `N/A`: the figures of a row.
bool take_figure(Cursor& cursor, float& value) {
  value = -1;
  if (cursor.eat("N/A")) return true;
  return cursor.real(value);
}

void set_half(BenchmarkResult& half, const float* figures, int count) {
  float BenchmarkResult::*const kFields[] = {&BenchmarkResult::time_us, &BenchmarkResult::algbw_gbs,
                                             &BenchmarkResult::busbw_gbs, &BenchmarkResult::wrong};
  for (int i = 0; i < count && i < 4; ++i) half.*kFields[i] = figures[i];
}

/// `8 2 float sum -1 12.3 0.00 0.00 0 12.1 0.00 0.00 0`: the figures are a root, if there is an odd number of them or
/// the first is -1 (no time is negative), and two halves.
Parsed row(Cursor cursor, Record& record) {
  BenchmarkRow found;
  if (!cursor.number(found.bytes) || cursor.peek() != ' ') return Parsed::No;
  cursor.skip_blanks();
  if (!cursor.number(found.count) || cursor.peek() != ' ') return Parsed::No;
  cursor.skip_blanks();
  if (!is_letter(cursor.peek()) || !cursor.word(found.type)) return Parsed::No;
  static constexpr std::string_view kTypes[] = {
      "int8",     "uint8",  "int32",    "uint32", "int64",   "uint64",  "half",
      "float",    "double", "bfloat16", "char",   "float16", "float32", "fp8_e4m3",
      "fp8_e5m2", "f8e4m3", "f8e5m2",   "fp8",    "int"};
  bool is_type = false;
  for (const std::string_view type : kTypes) is_type |= type == found.type;
  if (!is_type) return Parsed::No;
  cursor.skip_blanks();
  if (is_letter(cursor.peek()) && !cursor.rest().starts_with("N/A")) cursor.word(found.redop);
  cursor.skip_blanks();
  bool has_root = cursor.rest().starts_with("-1 ");
  constexpr int kMost = 24;
  float figures[kMost];
  int count = 0;
  for (; count < kMost; cursor.skip_blanks()) {
    const Cursor before = cursor;
    if (!take_figure(cursor, figures[count]) || (!cursor.is_done() && cursor.peek() != ' ')) {
      cursor = before;  // a timestamp, or another line that begins in this one
      break;
    }
    ++count;
  }
  const float* first = figures;
  has_root = has_root || count % 2 == 1;
  if (has_root) {
    constexpr float kMostRoot = 1 << 24;  // a float has each integer below it
    if (figures[0] >= -1 && figures[0] < kMostRoot)
      found.root = static_cast<std::int32_t>(figures[0]);
    ++first;
    --count;
  }
  const int half = count >= 16 ? 8 : 4;
  set_half(found.out_of_place, first, count < half ? count : half);
  if (count > half) set_half(found.in_place, first + half, count - half);
  record.make<BenchmarkRow>() = found;
  const bool is_whole = cursor.is_done() && (count == 8 || count == 16);
  return is_whole ? Parsed::Whole : Parsed::Broken;
}

}  // namespace

Parsed parse_benchmark(std::string_view text, Record& record) {
  Cursor cursor(text);
  if (cursor.peek() == '#') return comment(text, record);
  return is_digit(cursor.peek()) ? row(cursor, record) : Parsed::No;
}

}  // namespace ringside::logs

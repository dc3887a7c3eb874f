#include "diag/logparse/torch_lines.h"

#include "diag/logparse/cursor.h"
#include "diag/logparse/message.h"
#include "diag/logparse/torch_prefix.h"

namespace ringside::logs {
namespace {

/// `ProcessGroupNCCL.cpp:632]`
bool source_place(Cursor& cursor, TorchPrefix& prefix) {
  std::string_view place;
  if (!cursor.until(']', place)) return false;
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return false;
  prefix.file = trimmed(place.substr(0, colon));
  if (!contains(prefix.file, '.') || contains(prefix.file, ' ')) {
    return false;
  }
  Cursor number(place.substr(colon + 1));
  return number.number(prefix.line) && number.is_done();
}

bool is_severity(char c) { return c == 'I' || c == 'W' || c == 'E' || c == 'F'; }

/// `[E301 10:20:30.123456789 F.cpp:632] `, `[E F.cpp:632] `, `E0301 10:20:30.123456 77 F.cpp:632] `
bool header(Cursor& cursor, TorchPrefix& prefix) {
  Cursor at = cursor;
  at.eat('[');
  const char severity = at.peek();
  if (!is_severity(severity)) return false;
  const char* const begin = at.at();
  at.skip(1);
  std::int32_t date = 0;
  std::string_view clock;
  if (is_digit(at.peek())) {
    if (!at.number(date) || !at.eat(' ') || !at.word(clock) || clock.size() < 8 || clock[2] != ':')
      return false;
    prefix.time = {begin, static_cast<std::size_t>(clock.data() + 8 - begin)};
  }
  if (!at.eat(' ')) return false;
  at.skip_blanks();
  std::int32_t tid = 0;
  if (is_digit(at.peek()) && (!at.number(tid) || !at.eat(' '))) return false;
  if (!source_place(at, prefix)) return false;
  at.eat(' ');
  prefix.severity = severity;
  cursor = at;
  return true;
}

/// `PG ID 4 PG GUID 11(tp) Rank 1`, `PG 4 (tp) Rank 1`, `PG 4 Rank 1`, `Rank 1`, `pg0 Rank 1`
bool group(std::string_view inside, TorchPrefix& prefix) {
  const std::size_t at = inside.rfind("Rank ");
  if (at == std::string_view::npos) return false;
  Cursor rank(inside.substr(at + 5));
  if (!rank.number(prefix.group_rank) || !rank.is_done()) return false;
  Cursor cursor(trimmed_right(inside.substr(0, at)));
  if (cursor.is_done()) return true;
  if (!cursor.eat("PG ")) return false;
  const bool has_guid = cursor.eat("ID ");
  if (!cursor.number(prefix.pg_id)) return false;
  if (has_guid && cursor.eat(" PG GUID ")) {
    const char* const begin = cursor.at();
    while (!cursor.is_done() && cursor.peek() != '(' && cursor.peek() != ' ') cursor.skip(1);
    prefix.pg_guid = {begin, static_cast<std::size_t>(cursor.at() - begin)};
  }
  cursor.skip_blanks();
  if (cursor.eat('(')) {
    const std::string_view rest = cursor.rest();
    prefix.pg_desc = rest.substr(0, rest.rfind(')'));
  }
  return true;
}

}  // namespace

std::uint32_t read_torch_prefix(std::string_view text, TorchPrefix& prefix) {
  Cursor cursor(text);
  if (!header(cursor, prefix)) return 0;
  const Cursor before = cursor;
  std::string_view inside;
  if (!cursor.eat('[') || !cursor.until(']', inside) || !group(inside, prefix)) {
    cursor = before;
  } else {
    cursor.skip_blanks();
  }
  return static_cast<std::uint32_t>(cursor.at() - text.data());
}

TorchPrefix torch_prefix(const Record& record) {
  TorchPrefix prefix;
  const std::string_view line = record.line.substr(0, record.text_at);
  // The header is the last part before the text except for the group, so its start is searched.
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '[' && !is_severity(line[at])) continue;
    TorchPrefix found;
    if (read_torch_prefix(line.substr(at), found) > 0) {
      found.global_rank = prefix.global_rank;
      return found;
    }
    Cursor cursor(line.substr(at));
    std::int32_t rank = -1;
    if (cursor.eat("[rank") && cursor.number(rank) && cursor.eat("]:")) prefix.global_rank = rank;
  }
  return prefix;
}

void find_torch_group(std::string_view text, TorchPrefix& prefix) {
  constexpr std::string_view kOpen = "[PG ";
  for (std::size_t at = text.rfind(kOpen); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(kOpen, at - 1)) {
    const std::string_view inside = text.substr(at + 1);
    TorchPrefix found = prefix;
    if (!group(inside.substr(0, inside.find(']')), found)) continue;
    prefix = found;
    return;
  }
}

TorchPrefix torch_group(const Record& record) {
  TorchPrefix prefix = torch_prefix(record);
  if (prefix.pg_id < 0 && prefix.pg_guid.empty())
    find_torch_group(record.line.substr(0, record.line.find("WorkNCCL(")), prefix);
  return prefix;
}

bool TorchPrefix::is_of_subgroup() const {
  if (pg_desc == "default_pg") return false;
  if (pg_id > 0) return true;
  return !pg_desc.empty() && pg_desc != "undefined";
}

TorchWork parse_work(std::string_view text) {
  TorchWork work;
  const std::size_t open = text.find("WorkNCCL(");
  if (open != std::string_view::npos) text = text.substr(open + 9);
  const auto number = [text](std::string_view key) {
    const std::size_t at = text.find(key);
    std::int64_t value = -1;
    if (at == std::string_view::npos) return value;
    Cursor cursor(text.substr(at + key.size()));
    return cursor.number(value) ? value : std::int64_t{-1};
  };
  work.sequence = number("SeqNum=");
  work.numel_in = number("NumelIn=");
  work.numel_out = number("NumelOut=");
  work.timeout_ms = number("Timeout(ms)=");
  const std::size_t type = text.find("OpType=");
  if (type != std::string_view::npos) {
    work.operation = text.substr(type + 7);
    work.operation = work.operation.substr(0, work.operation.find_first_of(",)"));
  }
  const std::size_t shape = text.find("TensorShape=[");
  if (shape != std::string_view::npos) {
    work.tensor_shape = text.substr(shape + 13);
    work.tensor_shape = work.tensor_shape.substr(0, work.tensor_shape.find(']'));
  }
  return work;
}

std::vector<std::int32_t> parse_rank_list(std::string_view text) {
  // A range of a few characters can mean a million ranks, and no job has more.
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::vector<std::int32_t> ranks;
  Cursor cursor(text);
  while (!cursor.is_done() && ranks.size() < kMost) {
    std::int32_t rank = 0;
    if (!is_digit(cursor.peek()) || !cursor.number(rank)) {
      cursor.skip(1);
      continue;
    }
    ranks.push_back(rank);
    std::int32_t last = 0;
    constexpr std::int32_t kLongestRun = 1 << 20;
    if (cursor.eat('-') && cursor.number(last) && last > rank && last - rank <= kLongestRun) {
      while (rank < last && ranks.size() < kMost) ranks.push_back(++rank);
    }
  }
  return ranks;
}

std::string_view value_of_key(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(key, at);
    if (found == std::string_view::npos) return {};
    const bool is_start = found == 0 || text[found - 1] == ' ' || text[found - 1] == ',';
    at = found + key.size();
    if (!is_start || text.substr(at, 2) != ": ") continue;
    const std::string_view value = text.substr(at + 2);
    return trimmed(value.substr(0, value.find(',')));
  }
  return {};
}

}  // namespace ringside::logs

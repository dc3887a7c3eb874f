#include "diag/logparse/call_records.h"

#include <array>

#include "diag/logparse/cursor.h"
#include "diag/logparse/noting_cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

template <std::size_t N>
std::int8_t index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<std::int8_t>(i);
  }
  return -1;
}

constexpr std::array<std::string_view, 7> kAlgorithms = {
    "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "SIMPLE"};

/// Reads a pointer as C libraries print it.
template <typename C>
bool take_pointer(C& cursor, std::uint64_t& pointer) {
  return cursor.hex(pointer) || cursor.eat("(nil)") || cursor.eat("nil");
}

/// Skips a field that is not used: addresses of buffers and streams.
template <typename C, std::size_t N>
bool skip_field(C& cursor, const char (&key)[N]) {
  if (!cursor.eat(key)) return false;
  cursor.skip_word();
  return true;
}

template <typename C>
Parsed coll_call(std::string_view function, C cursor, Record& record) {
  CollCall& call = record.make<CollCall>();
  call.function = function;
  bool is_whole = cursor.hex(call.op_count) && skip_field(cursor, " sendbuff ") &&
                  skip_field(cursor, " recvbuff ") && cursor.eat(" count ") &&
                  cursor.number(call.count) && cursor.eat(" datatype ") &&
                  cursor.number(call.datatype) && cursor.eat(" op ") && cursor.number(call.op) &&
                  cursor.eat(" root ") && cursor.number(call.root) && cursor.eat(" comm ") &&
                  take_pointer(cursor, call.comm) && cursor.eat(" [nranks=") &&
                  cursor.number(call.nranks) && cursor.eat(']');
  is_whole = is_whole && skip_field(cursor, " stream ");
  if (!is_whole) return Parsed::Broken;
  std::int64_t task = 0;
  if (cursor.eat(" task ")) cursor.number(task);
  if (cursor.eat(" globalrank ")) cursor.number(call.global_rank);
  cursor.skip_blanks();
  return cursor.is_done() ? Parsed::Whole : Parsed::Broken;
}

/// Reads an algorithm or protocol: a name in the newest versions, a number in older ones.
template <std::size_t N>
bool take_name(Cursor& cursor, const std::array<std::string_view, N>& names, std::int8_t& index) {
  if (cursor.number(index)) return true;
  std::string_view name;
  if (!cursor.word(name)) return false;
  index = name == "COLLNET" ? std::int8_t{2} : index_of(names, name);
  return true;
}

/// After `<n> Bytes -> `.
Parsed tuning_choice(std::string_view function, std::uint64_t bytes, Cursor cursor,
                     Record& record) {
  TuningChoice& choice = record.make<TuningChoice>();
  choice.function = function;
  choice.bytes = bytes;
  if (!cursor.eat("Algo ")) {
    cursor.eat("Kernel ");
    choice.kernel = trimmed(cursor.rest());
    return Parsed::Open;
  }
  if (!take_name(cursor, kAlgorithms, choice.algorithm) || !cursor.eat(" proto ") ||
      !take_name(cursor, kProtocols, choice.protocol)) {
    return Parsed::Broken;
  }
  if (cursor.eat(" channel{Lo..Hi}={")) {
    const bool is_whole = cursor.number(choice.channel_low) && cursor.eat("..") &&
                          cursor.number(choice.channel_high) && cursor.eat('}');
    if (!is_whole) return Parsed::Broken;
    std::int32_t cluster = 0;
    if (cursor.eat(" cgaClusterSize ") && !cursor.number(cluster)) return Parsed::Broken;
  } else if (!cursor.eat(" time ") || !cursor.real(choice.time_us)) {
    return Parsed::Broken;
  }
  cursor.skip_blanks();
  return cursor.is_done() ? Parsed::Whole : Parsed::Broken;
}

/// `AllReduce: opCount 1f ...`, `AllReduce: 2097152 Bytes -> ...`, `2097152 Bytes -> ...`,
/// `AllReduce [Symmetric]: 2097152 Bytes -> Kernel ...`
template <typename C>
Parsed call_line(C cursor, Record& record) {
  std::string_view function;
  if (!is_digit(cursor.peek())) {
    const char* const begin = cursor.at();
    while (is_letter(cursor.peek())) cursor.skip(1);
    function = {begin, static_cast<std::size_t>(cursor.at() - begin)};
    if (function.empty()) return Parsed::No;
    if (cursor.eat(": opCount ")) return coll_call(function, cursor, record);
    std::string_view how;
    if (cursor.eat(" [") && !cursor.until(']', how)) return Parsed::No;
    if (!cursor.eat(": ")) return Parsed::No;
  }
  std::uint64_t bytes = 0;
  if (!cursor.number(bytes) || !cursor.eat(" Bytes -> ")) return Parsed::No;
  return tuning_choice(function, bytes, cursor, record);
}

}  // namespace

Parsed parse_call(std::string_view text, Record& record) { return call_line(Cursor(text), record); }

Parsed note_call(std::string_view text, Record& record, TextFields& fields) {
  return call_line(NotingCursor(text, fields), record);
}

Parsed parse_api_call(std::string_view text, Record& record) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || contains(text.substr(0, open), ' ')) {
    return Parsed::No;
  }
  ApiCall call;
  call.function = text.substr(0, open);
  const std::string_view rest = trimmed_right(text.substr(open + 1));
  const bool is_closed = rest.ends_with(')');
  call.arguments = is_closed ? rest.substr(0, rest.size() - 1) : rest;
  record.make<ApiCall>() = call;
  return is_closed ? Parsed::Open : Parsed::Broken;
}

/// `transport/net.cc:381 (ncclIbTest) -> 6 [Async thread]`, ` (Connection refused)` may follow.
Parsed parse_result(std::string_view text, Record& record) {
  Cursor cursor(text);
  ResultStack result;
  if (!cursor.until(':', result.file) || contains(result.file, ' ') ||
      !contains(result.file, '.') || !cursor.number(result.line)) {
    return Parsed::No;
  }
  if (cursor.eat(" (") && !cursor.until(')', result.function)) return Parsed::No;
  if (!cursor.eat(" -> ") || !cursor.number(result.code)) return Parsed::No;
  if (cursor.eat(" [") && !cursor.until(']', result.thread)) return Parsed::Broken;
  record.make<ResultStack>() = result;
  cursor.skip_blanks();
  return cursor.is_done() ? Parsed::Whole : Parsed::Open;
}

}  // namespace ringside::logs

#include "diag/logparse/ras_records.h"

#include "diag/logparse/cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

/// `0 1 2 8 16 16 RUNNING OK`: a row of the table of communicators. The number of ranks per node may be `4-8`.
Parsed comm_row(Cursor cursor, Record& record) {
  RasComm comm;
  std::int32_t ranks_per_node = 0;
  const auto take = [&cursor](std::int32_t& value) {
    cursor.skip_blanks();
    return cursor.number(value) && !is_digit(cursor.peek());
  };
  if (!take(comm.group) || cursor.peek() != ' ' || !take(comm.comms) || !take(comm.nodes) ||
      !take(ranks_per_node)) {
    return Parsed::No;
  }
  if (cursor.eat('-') && !cursor.number(ranks_per_node)) return Parsed::No;
  if (!take(comm.nranks) || !take(comm.ranks_present)) return Parsed::No;
  cursor.skip_blanks();
  if (!is_letter(cursor.peek()) || !cursor.word(comm.status)) return Parsed::No;
  static constexpr std::string_view kStates[] = {"INIT",  "RUNNING", "FINALIZE",
                                                 "ABORT", "NOCOMM",  "UNKNOWN"};
  bool is_state = false;
  for (const std::string_view state : kStates) is_state |= comm.status.starts_with(state);
  if (!is_state) return Parsed::No;
  comm.errors = trimmed(cursor.rest());
  record.make<RasComm>() = comm;
  return Parsed::Open;
}

/// `3 (NVML 3) managed by process 77 on node 10.1.0.2`, after `GPU`.  returns  false: there is no number
bool take_place(Cursor& cursor, RasRank& rank) {
  if (!cursor.number(rank.gpu)) return false;
  if (cursor.eat(" (NVML ")) {
    cursor.number(rank.nvml);
    cursor.eat(')');
  }
  if (cursor.eat(" managed by process ")) cursor.number(rank.pid);
  if (cursor.eat(" on node ")) cursor.word(rank.host);
  return true;
}

/// `Rank 3 has launched up to operation 61 -- GPU 3 (NVML 3) managed by process 77 on node 10.1.0.2`
Parsed rank_line(Cursor cursor, Record& record) {
  RasRank rank;
  if (!cursor.number(rank.rank)) return Parsed::No;
  cursor.skip_blanks();
  if (cursor.eat("has launched up to operation ")) {
    cursor.number(rank.operation);
  } else if (cursor.eat("has status ")) {
    cursor.word(rank.status);
  }
  cursor.skip_blanks();
  if (!cursor.eat("-- GPU ") || !take_place(cursor, rank)) {
    if (!cursor.eat("-- ") && rank.operation < 0 && rank.status.empty()) return Parsed::No;
    record.make<RasRank>() = rank;
    return Parsed::Open;
  }
  record.make<RasRank>() = rank;
  return Parsed::Open;
}

}  // namespace

Parsed parse_ras(std::string_view text, Record& record) {
  Cursor cursor(text);
  if (is_digit(cursor.peek())) return comm_row(cursor, record);
  if (cursor.eat("Rank ")) return rank_line(cursor, record);
  if (cursor.eat("The missing rank")) {
    RasRank rank;
    rank.state = RasRank::State::Missing;
    cursor.eat('s');
    if (!cursor.eat(':')) return Parsed::No;
    cursor.skip_blanks();
    if (!cursor.number(rank.rank)) return Parsed::No;
    if (trimmed(cursor.rest()).empty()) {
      record.make<RasRank>() = rank;
      return Parsed::Open;
    }
    cursor.skip_blanks();
    if (!cursor.eat("-- GPU ") || !take_place(cursor, rank))
      return Parsed::No;  // a list, or a range
    record.make<RasRank>() = rank;
    return Parsed::Open;
  }
  return Parsed::No;
}

}  // namespace ringside::logs

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "diag/hangdetect/examine.h"

namespace ringside::hang {

/// The latest collectives of a group: a row for each rank, a column for each call.
struct CallTable {
  std::string group;                    ///< `tensor [2]`
  std::vector<std::uint32_t> numbers;   ///< numbers of the calls in the dumps, ascending
  std::vector<std::string> operations;  ///< by column: what most ranks called
  struct Row {
    std::vector<int> ranks;  ///< ranks with the same cells
    /// By column: `done`, `waits`, `entered` (its end is not recorded), `never` (the rank has not entered the call), `?`
    /// (unknown: no dump, or no longer in it); then the call, if most ranks called something else.
    std::vector<std::string> cells;
  };
  std::vector<Row> rows;  ///< by first rank
};

/// Returns a table for each group with collectives: groups in which a rank waits are first, then by number.
/// columns  calls in a table, at most: the newest ones
std::vector<CallTable> call_tables(const Examination& all, std::size_t columns = 6);

/// The latest sends and receives of a group: a row for each rank. Each rank numbers them itself, so columns are not
/// aligned.
struct TransferTable {
  std::string group;
  struct Row {
    int rank = 0;
    std::vector<std::string>
        cells;  ///< oldest first: `send 16 to 3: done`, `recv 17 from 3: waits`
  };
  std::vector<Row> rows;
};

/// Returns a table for each group in which a rank waits in a send or receive.
/// columns  transfers of a rank, at most: the newest ones
std::vector<TransferTable> transfer_tables(const Examination& all, std::size_t columns = 4);

/// Returns the tables as JSON: [{group, numbers, operations, rows [{ranks, cells}]}].
Json call_tables_json(const Examination& all);

/// Returns the tables as JSON: [{group, rows [{rank, cells}]}].
Json transfer_tables_json(const Examination& all);

/// Returns all tables as text.
std::string call_tables_text(const Examination& all);

}  // namespace ringside::hang

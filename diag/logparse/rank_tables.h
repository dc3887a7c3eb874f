#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// Rows of tables with a column of ranks, as people and scripts write them, become lines of these ranks:
///
///     | rank | where                        |        rank  seq  where
///     |------|------------------------------|        0     812  all_reduce
///     | 3    | `read (socket.py:705)` |              3     811  read (socket.py:705)
///
/// are `rank 3: read (socket.py:705)` and `rank 3: seq 811, read (socket.py:705)`. Commas may separate columns, too.
///
/// lines    of a text, without quotation marks and colours
/// returns  for each line the new text; empty: it stays as it is
std::vector<std::string> rank_rows(const std::vector<std::string_view>& lines);

}  // namespace ringside::logs

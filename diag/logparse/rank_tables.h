#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside::logs {

/// Converts rows of tables with a column of ranks, as people and scripts write them, to lines of these ranks:
///
///     | rank | where                        |        rank  seq  where
///     |------|------------------------------|        0     812  all_reduce
///     | 3    | `read (socket.py:705)` |              3     811  read (socket.py:705)
///
/// become `rank 3: read (socket.py:705)` and `rank 3: seq 811, read (socket.py:705)`. Commas and semicolons may
/// separate columns, too.
///
/// lines    the lines of a text, without quotation marks and colours
/// returns  the new text for each line; empty: the line is unchanged
std::vector<std::string> rank_rows(const std::vector<std::string_view>& lines);

}  // namespace ringside::logs

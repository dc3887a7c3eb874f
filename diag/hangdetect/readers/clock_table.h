#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// A GPU's row in a table of clock rates.
struct ClockRow {
  int gpu = 0;                ///< index on its host
  int mhz = 0;                ///< SM clock
  bool is_throttled = false;  ///< a throttle reason is active, or the GPU is hot
  double power_limit_w = -1;  ///< -1: the table has no such column
};

/// Reads tables of clock rates line by line: of nvidia-smi --query-gpu=index,clocks.sm,..,clocks_event_reasons.active
/// --format=csv, of dcgmi dmon, or written by a person. A header names the columns; without one, a row counts if it has
/// `MHz` and `Active`.
class ClockTable {
 public:
  /// returns  nothing: the line is a header, or no row of such a table
  std::optional<ClockRow> take(std::string_view line);

 private:
  enum class Column : std::uint8_t { Other, Gpu, Clock, Reason, Temperature, PowerLimit };
  static Column column_of(std::string_view title);
  static std::vector<Column> columns_by_content(const std::vector<std::string_view>& cells);
  void take_header(const std::vector<std::string_view>& cells, bool has_commas);

  std::vector<Column> columns_;  ///< of the last header
  bool has_commas_ = false;
};

/// Returns the index of the one row whose GPU is held down: it is throttled, or its power limit is far below that of
/// the other GPUs, and its clock is at most half of the median. Nothing if there are several, a GPU is listed twice, or
/// there are too few rows to say which GPU is the unusual one.
std::optional<std::size_t> slowed_row(std::span<const ClockRow> rows);

}  // namespace ringside::hang

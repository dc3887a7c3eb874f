#include "diag/hangdetect/readers/clock_table.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

/// source  nvidia-smi -q -d TEMPERATURE of an A100-SXM4: "GPU Max Operating Temp: 85 C"
constexpr double kHotC = 85;
/// Of the highest power limit in the table. Chosen: administrators cap all GPUs alike, and by less than that.
constexpr double kLowPowerLimit = 0.6;
constexpr double kMostGpus = 64, kMostMhz = 10'000;

std::vector<std::string_view> cells_of(std::string_view line, bool has_commas) {
  std::vector<std::string_view> cells;
  constexpr std::size_t kMost = 24;
  std::string_view rest = logs::trimmed(line);
  while (!rest.empty() && cells.size() < kMost) {
    const std::size_t end = std::min(has_commas ? rest.find(',') : rest.find(' '), rest.size());
    std::string_view cell = logs::trimmed(rest.substr(0, end));
    rest = logs::trimmed_left(rest.substr(std::min(end + 1, rest.size())));
    // dcgmi: `GPU 3` is one cell.
    if (!has_commas && cell == "GPU" && cells.empty()) continue;
    cells.push_back(cell);
  }
  return cells;
}

double number_of(std::string_view cell) {
  double number = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return error == std::errc() ? number : -1;
}

/// Returns whether a reason is set: `Active`, `0x0000000000000004`, `8`. The bit of an idle GPU does not count.
bool is_reason(std::string_view cell) {
  if (cell == "Active") return true;
  const bool is_hex = cell.starts_with("0x");
  if (is_hex) cell.remove_prefix(2);
  std::uint64_t bits = 0;
  const auto [end, error] =
      std::from_chars(cell.data(), cell.data() + cell.size(), bits, is_hex ? 16 : 10);
  return error == std::errc() && end == cell.data() + cell.size() && (bits & ~1ULL) != 0;
}

}  // namespace

ClockTable::Column ClockTable::column_of(std::string_view title) {
  const std::string name = lower_case(title);
  const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  if (name == "index" || name == "gpu" || name == "#entity" || name == "gpu_id" || name == "id") {
    return Column::Gpu;
  }
  if (has("supported"))
    return Column::Other;  // reasons that the GPU can report, not those that are active
  if (has("reason") || has("throttle") || has("thr")) return Column::Reason;
  if ((has("clock") || has("clk")) && !has("max") && !has("mem")) return Column::Clock;
  if (has("temp") || name == "tmptr") return Column::Temperature;
  if (has("limit") || has("cap")) return Column::PowerLimit;
  return Column::Other;
}

void ClockTable::take_header(const std::vector<std::string_view>& cells, bool has_commas) {
  std::vector<Column> columns;
  for (const std::string_view cell : cells) columns.push_back(column_of(cell));
  const auto has = [&](Column column) { return std::ranges::count(columns, column) > 0; };
  if (!has(Column::Gpu) || !has(Column::Clock)) return;
  columns_ = std::move(columns);
  has_commas_ = has_commas;
}

/// Returns the columns of a row without a header; empty: it is no such row.
std::vector<ClockTable::Column> ClockTable::columns_by_content(
    const std::vector<std::string_view>& cells) {
  std::vector<Column> columns(cells.size(), Column::Other);
  columns.front() = Column::Gpu;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i] == "Active" || cells[i] == "Not Active") columns[i] = Column::Reason;
    if (cells[i].ends_with(" MHz")) columns[i] = Column::Clock;
  }
  const auto has = [&](Column column) { return std::ranges::count(columns, column) > 0; };
  return has(Column::Reason) && has(Column::Clock) ? columns : std::vector<Column>();
}

std::optional<ClockRow> ClockTable::take(std::string_view line) {
  constexpr std::size_t kFewestCells = 3;
  // The header may be joined to the command before it.
  if (const std::size_t header = line.find(" index, "); header != std::string_view::npos) {
    line.remove_prefix(header + 1);
  }
  const bool has_commas = line.find(',') != std::string_view::npos;
  const std::vector<std::string_view> cells = cells_of(line, has_commas);
  if (cells.size() < kFewestCells) return std::nullopt;
  if (cells.front().empty() || !logs::is_digit(cells.front().front())) {
    take_header(cells, has_commas);
    return std::nullopt;
  }
  const bool fits_header = cells.size() == columns_.size() && has_commas == has_commas_;
  const std::vector<Column> columns = fits_header ? columns_ : columns_by_content(cells);
  ClockRow row;
  bool has_gpu = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const double number = number_of(cells[i]);
    switch (columns[i]) {
      case Column::Gpu:
        has_gpu = number >= 0 && number < kMostGpus;
        if (has_gpu) row.gpu = static_cast<int>(number);
        break;
      case Column::Clock:  // the first is the SM's, as nvidia-smi and dcgmi order them
        if (row.mhz == 0 && number > 0 && number < kMostMhz) row.mhz = static_cast<int>(number);
        break;
      case Column::Reason:
        row.is_throttled |= is_reason(cells[i]);
        break;
      case Column::Temperature:
        row.is_throttled |= number >= kHotC;
        break;
      case Column::PowerLimit:
        row.power_limit_w = std::max(row.power_limit_w, number);
        break;
      case Column::Other:
        break;
    }
  }
  if (!has_gpu || row.mhz == 0) return std::nullopt;
  return row;
}

std::optional<std::size_t> slowed_row(std::span<const ClockRow> rows) {
  constexpr std::size_t kFewest = 3;  // of two GPUs, either may be the unusual one
  if (rows.size() < kFewest) return std::nullopt;
  std::set<int> gpus;
  std::vector<int> clocks;
  double highest_limit = 0;
  for (const ClockRow& row : rows) {
    gpus.insert(row.gpu);
    clocks.push_back(row.mhz);
    highest_limit = std::max(highest_limit, row.power_limit_w);
  }
  if (gpus.size() != rows.size()) return std::nullopt;
  std::ranges::sort(clocks);
  const int usual = clocks[clocks.size() / 2];
  std::optional<std::size_t> slowed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double limit = rows[i].power_limit_w;
    const bool is_capped = limit > 0 && limit < kLowPowerLimit * highest_limit;
    if ((!rows[i].is_throttled && !is_capped) || rows[i].mhz * 2 > usual) continue;
    if (slowed) return std::nullopt;
    slowed = i;
  }
  return slowed;
}

}  // namespace ringside::hang

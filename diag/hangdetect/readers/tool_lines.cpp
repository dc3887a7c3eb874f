#include "diag/hangdetect/readers/tool_lines.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/text.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/line_begins.h"

namespace ringside::hang {
namespace {

using logs::is_digit;

/// Returns the number after `key`, or after it and one more character.  returns  -1: there is none
std::int64_t number_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return -1;
  std::string_view rest = text.substr(at + key.size());
  if (!rest.empty() && !is_digit(rest.front())) rest.remove_prefix(1);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return error == std::errc() ? number : -1;
}

}  // namespace

PsLine read_ps_line(std::string_view line) {
  PsLine out;
  std::int64_t rank = -1;
  for (const std::string_view key : {"--local_rank", "--local-rank", "LOCAL_RANK"}) {
    if (rank < 0) rank = number_behind(line, key);
  }
  if (rank < 0 || rank > kMostRanks) return {};
  constexpr int kNear = 9;  // words: STAT is the eighth of `ps aux`
  std::string_view rest = line;
  for (int i = 0; i < kNear; ++i) {
    rest = logs::trimmed_left(rest);
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (word.empty()) break;
    const bool is_number = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && out.pid < 0) out.pid = parse_whole(word).value_or(-1);
    if (out.pid >= 0 && logs::is_ps_state(word)) {
      out.state = word.front();
      break;
    }
    rest.remove_prefix(word.size());
  }
  if (out.state == 0) return {};
  out.local_rank = static_cast<int>(rank);
  return out;
}

int gpu_utilisation(std::string_view line) {
  const std::size_t memory = line.find("MiB |");
  if (memory == std::string_view::npos || line.find("W / ") == std::string_view::npos) return -1;
  std::string_view rest = logs::trimmed_left(line.substr(memory + 5));
  int percent = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), percent);
  const bool is_percent = error == std::errc() && end != rest.data() + rest.size() && *end == '%';
  return is_percent && percent >= 0 && percent <= 100 ? percent : -1;
}

namespace {

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

double number_of_cell(std::string_view cell) {
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

bool ClockTable::take_header(const std::vector<std::string_view>& cells) {
  std::vector<Column> columns;
  bool has_gpu = false;
  bool has_clock = false;
  for (const std::string_view cell : cells) {
    const std::string name = lower_case(cell);
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    Column column = Column::Other;
    if (name == "index" || name == "gpu" || name == "#entity" || name == "gpu_id" || name == "id") {
      column = Column::Gpu;
    } else if (has("reason") || has("throttle") || has("thr")) {
      column = Column::Reason;
    } else if ((has("clock") || has("clk")) && !has("max") && !has("mem") && !has_clock) {
      column = Column::Clock;
    } else if (has("temp") || name == "tmptr") {
      column = Column::Temperature;
    } else if (has("limit") || has("cap")) {
      column = Column::Limit;
    }
    has_gpu = has_gpu || column == Column::Gpu;
    has_clock = has_clock || column == Column::Clock;
    columns.push_back(column);
  }
  if (!has_gpu || !has_clock) return false;
  columns_ = std::move(columns);
  highest_limit_ = 0;
  return true;
}

ClockRow ClockTable::take(std::string_view line) {
  constexpr std::size_t kFewestCells = 3;
  // The header may be joined to the command before it.
  if (const std::size_t header = line.find(" index, "); header != std::string_view::npos)
    line.remove_prefix(header + 1);
  const bool has_commas = line.find(',') != std::string_view::npos;
  const std::vector<std::string_view> cells = cells_of(line, has_commas);
  if (cells.size() < kFewestCells) return {};
  if (cells.front().empty() || !logs::is_digit(cells.front().front())) {
    if (take_header(cells)) has_commas_ = has_commas;
    return {};
  }
  std::vector<Column> columns = columns_;
  if (columns.empty() || cells.size() != columns.size() || has_commas != has_commas_) {
    const bool has_reasons = line.find(", Active") != std::string_view::npos ||
                             line.find(", Not Active") != std::string_view::npos;
    if (!has_reasons || line.find(" MHz") == std::string_view::npos) return {};
    columns.assign(cells.size(), Column::Other);
    columns.front() = Column::Gpu;
    for (std::size_t i = 1; i < cells.size(); ++i) {
      if (cells[i].ends_with("ctive")) columns[i] = Column::Reason;
      if (cells[i].ends_with(" MHz")) columns[i] = Column::Clock;
    }
  }
  ClockRow row;
  constexpr double kHot = 85;        // degrees: GPUs of servers slow down from there on
  constexpr double kMuchLess = 0.6;  // of the highest power limit
  constexpr double kMostGpus = 64, kMostMhz = 10'000;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double number = number_of_cell(cells[i]);
    const bool is_gpu = columns[i] == Column::Gpu && number >= 0 && number < kMostGpus;
    if (is_gpu) row.gpu = static_cast<int>(number);
    if (columns[i] == Column::Clock && number >= 0 && number < kMostMhz && row.mhz == 0)
      row.mhz = static_cast<int>(number);
    row.is_held =
        row.is_held || (columns[i] == Column::Reason && is_reason(cells[i])) ||
        (columns[i] == Column::Temperature && number >= kHot) ||
        (columns[i] == Column::Limit && number > 0 && number < kMuchLess * highest_limit_);
    if (columns[i] == Column::Limit) highest_limit_ = std::max(highest_limit_, number);
  }
  if (row.mhz == 0) row.gpu = -1;
  return row;
}

PodLine read_pod_line(std::string_view line) {
  std::array<std::string_view, 3> words;
  std::string_view rest = logs::trimmed_left(line);
  for (std::string_view& word : words) {
    word = rest.substr(0, rest.find(' '));
    rest = logs::trimmed_left(rest.substr(word.size()));
  }
  const auto& [name, ready, status] = words;
  const bool is_ready = ready.size() >= 3 && is_digit(ready.front()) && is_digit(ready.back()) &&
                        ready.find('/') != std::string_view::npos;
  if (!is_ready || status.empty() || !logs::is_letter(status.front())) return {};
  // `-2`, `-2-p7dnc`: an indexed job puts five letters after the number.
  std::string_view own = name;
  constexpr std::size_t kSuffix = 5;
  std::size_t hyphen = own.rfind('-');
  if (hyphen == std::string_view::npos) return {};
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_number(own.substr(hyphen + 1)) && own.size() - hyphen - 1 == kSuffix) {
    own = own.substr(0, hyphen);
    hyphen = own.rfind('-');
    if (hyphen == std::string_view::npos) return {};
  }
  const auto index =
      is_number(own.substr(hyphen + 1)) ? parse_whole(own.substr(hyphen + 1)) : std::nullopt;
  if (!index || *index >= kMostRanks) return {};
  const std::string_view owner = own.substr(0, hyphen);
  const std::string_view role = owner.substr(owner.rfind('-') + 1);
  return {static_cast<int>(*index), status, role};
}

}  // namespace ringside::hang

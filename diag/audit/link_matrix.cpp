#include "diag/audit/link_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

struct ReachName {
  std::string_view name;
  DeviceReach reach;
};
constexpr ReachName kReaches[] = {{"X", DeviceReach::Self},    {"PIX", DeviceReach::Pix},
                                  {"PXB", DeviceReach::Pxb},   {"PHB", DeviceReach::Phb},
                                  {"NODE", DeviceReach::Node}, {"SYS", DeviceReach::Sys},
                                  {"SOC", DeviceReach::Sys},  // the name in older drivers
                                  {"N/A", DeviceReach::None},  {"DIS", DeviceReach::None}};

/// returns  false: the word is not a cell
bool read_cell(std::string_view word, MatrixCell& cell) {
  for (const ReachName& known : kReaches) {
    if (word == known.name) {
      cell = {known.reach, 0};
      return true;
    }
  }
  if (!word.starts_with("NV")) return false;
  const char* const end = word.data() + word.size();
  std::uint8_t links = 0;
  const auto [stop, error] = std::from_chars(word.data() + 2, end, links);
  if (error != std::errc() || stop != end || links == 0) return false;
  cell = {DeviceReach::NvLink, links};
  return true;
}

bool is_gpu(std::string_view name) {
  return name.size() > 3 && name.starts_with("GPU") &&
         std::all_of(name.begin() + 3, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the devices that a heading names; empty: the line is not a heading.
std::vector<std::string> columns_of(const std::vector<std::string_view>& words) {
  MatrixCell cell;
  if (words.size() < 2 || words.front() != "GPU0" || read_cell(words[1], cell)) return {};
  const bool is_heading =
      words[1] == "GPU1" || std::find(words.begin(), words.end(), "Affinity") != words.end();
  if (!is_heading) return {};
  std::vector<std::string> columns;
  for (const std::string_view word : words) {
    if (word == "CPU" || word == "NUMA") break;  // Affinity
    columns.emplace_back(word);
  }
  return columns;
}

template <typename Pick>
MatrixCell most_frequent(const LinkMatrix& matrix, const Pick& pick) {
  std::vector<std::pair<MatrixCell, int>> counts;
  for (const LinkMatrix::Row& row : matrix.rows) {
    if (row.column >= matrix.gpus) continue;
    for (const MatrixCell cell : pick(row)) {
      auto at = std::find_if(counts.begin(), counts.end(),
                             [&](const auto& one) { return one.first == cell; });
      if (at == counts.end()) at = counts.insert(at, {cell, 0});
      ++at->second;
    }
  }
  if (counts.empty()) return {};
  return std::max_element(counts.begin(), counts.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::vector<std::string> gpus_where(const LinkMatrix& matrix, bool is_linked) {
  std::vector<std::string> names;
  for (const LinkMatrix::Row& row : matrix.rows) {
    if (row.column >= matrix.gpus) continue;
    const auto end = row.cells.begin() + static_cast<std::ptrdiff_t>(matrix.gpus);
    const bool has_link = std::any_of(
        row.cells.begin(), end, [](MatrixCell cell) { return cell.reach == DeviceReach::NvLink; });
    if (has_link == is_linked) names.push_back(matrix.columns[row.column]);
  }
  return names;
}

}  // namespace

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t\r";
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string to_string(MatrixCell cell) {
  if (cell.reach == DeviceReach::NvLink) return fmt::format("NV{}", cell.nvlinks);
  for (const ReachName& known : kReaches) {
    if (known.reach == cell.reach) return std::string(known.name);
  }
  return "N/A";
}

std::vector<std::string> LinkMatrix::linked_gpus() const { return gpus_where(*this, true); }
std::vector<std::string> LinkMatrix::unlinked_gpus() const { return gpus_where(*this, false); }

MatrixCell LinkMatrix::between_gpus() const {
  return most_frequent(*this, [&](const Row& row) {
    std::vector<MatrixCell> cells;
    for (std::size_t i = 0; i < gpus; ++i) {
      if (i != row.column) cells.push_back(row.cells[i]);
    }
    return cells;
  });
}

MatrixCell LinkMatrix::to_nearest_nic() const {
  return most_frequent(*this, [&](const Row& row) {
    std::vector<MatrixCell> nearest;
    for (std::size_t i = gpus; i < columns.size(); ++i) {
      if (nearest.empty() || row.cells[i].reach < nearest[0].reach) nearest = {row.cells[i]};
    }
    return nearest;
  });
}

void LinkMatrixLines::take(const Record& record, std::string_view host,
                           std::vector<LinkMatrix>& matrices) {
  const std::vector<std::string_view> words = cells_of(record.text());
  const auto open = open_.find(record.speaker);
  std::vector<std::string> columns = columns_of(words);
  if (!columns.empty()) {
    if (matrices.size() >= kMostMatrices || columns.size() > kMostColumns) return;
    constexpr int kLegend = 24;  // lines, besides those of rows
    open_[record.speaker] = {matrices.size(), static_cast<int>(columns.size()) + kLegend};
    LinkMatrix& matrix = matrices.emplace_back();
    matrix.host = host;
    matrix.process = record.speaker;
    matrix.columns = std::move(columns);
    matrix.gpus = static_cast<std::size_t>(
        std::find_if_not(matrix.columns.begin(), matrix.columns.end(), is_gpu) -
        matrix.columns.begin());
    matrix.evidence.add(record.place, record.speaker, record.line);
    return;
  }
  if (open == open_.end()) return;
  if (--open->second.lines_left < 0) {
    open_.erase(open);
    return;
  }
  LinkMatrix& matrix = matrices[open->second.matrix];
  if (words.size() == 2 && words[0].ends_with(':')) {  // `NIC0: mlx5_0`
    const std::string_view name = words[0].substr(0, words[0].size() - 1);
    const auto column = std::find(matrix.columns.begin(), matrix.columns.end(), name);
    if (column != matrix.columns.end()) *column = words[1];
    return;
  }
  if (words.size() <= matrix.columns.size() || record.is_torn || record.is_cut) return;
  const auto device = std::find(matrix.columns.begin(), matrix.columns.end(), words[0]);
  if (device == matrix.columns.end()) return;
  LinkMatrix::Row row{static_cast<std::size_t>(device - matrix.columns.begin()), {}};
  for (std::size_t i = 1; i <= matrix.columns.size(); ++i) {
    if (!read_cell(words[i], row.cells.emplace_back())) return;
  }
  matrix.rows.push_back(std::move(row));
  matrix.evidence.add(record.place, record.speaker, record.line);
}

}  // namespace ringside::audit

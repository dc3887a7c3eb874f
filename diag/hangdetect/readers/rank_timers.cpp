#include "diag/hangdetect/readers/rank_timers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/text.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/logparse/cursor.h"

namespace ringside::hang {
namespace {

constexpr std::size_t kMostTimers = 1024;

std::string_view plain_cell(std::string_view cell) {
  const std::size_t first = cell.find_first_not_of(" *`\t");
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(" *`\t") - first + 1);
}

std::vector<std::string_view> timer_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  if (line.find('|') == std::string_view::npos) return cells;
  if (line.starts_with('|')) line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  constexpr std::size_t kMostCells = 256;
  while (cells.size() < kMostCells) {
    const std::size_t bar = line.find('|');
    cells.push_back(plain_cell(line.substr(0, bar)));
    if (bar == std::string_view::npos) break;
    line.remove_prefix(bar + 1);
  }
  return cells;
}

/// `rank 42`, `rank42`.  returns  -1: it is none
int rank_of_cell(std::string_view cell) {
  const std::string small = lower_case(cell);
  std::string_view text = small;
  if (!text.starts_with("rank")) return -1;
  text.remove_prefix(4);
  while (!text.empty() && std::string_view(" _-=#").find(text.front()) != std::string_view::npos)
    text.remove_prefix(1);
  int rank = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && rank >= 0 && rank < kMostRanks ? rank : -1;
}

/// `1188.42`, `19.0 s`.  returns  -1: it is no time
double time_of_cell(std::string_view cell) {
  double time = -1;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), time);
  if (error != std::errc()) return -1;
  const std::string_view unit = logs::trimmed(
      std::string_view(end, static_cast<std::size_t>(cell.data() + cell.size() - end)));
  return unit.empty() || unit == "ms" || unit == "s" || unit == "us" || unit == "sec" ? time : -1;
}

}  // namespace

RankTimer* RankTimers::add(std::string_view name, std::int64_t number) {
  if (timers_.size() >= kMostTimers) return nullptr;
  timers_.push_back({std::string(name), {}, number});
  return &timers_.back();
}

bool RankTimers::take_row(std::string_view line, std::int64_t number) {
  const std::vector<std::string_view> cells = timer_cells(line);
  if (cells.size() < 3) return false;
  std::vector<int> ranks;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (const int rank = rank_of_cell(cells[i]); rank >= 0) ranks.push_back(rank);
  }
  if (ranks.size() + 1 == cells.size()) {
    columns_ = std::move(ranks);
    return true;
  }
  if (columns_.empty() || cells.size() != columns_.size() + 1) return false;
  std::map<int, double> times;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const double time = time_of_cell(cells[i + 1]);
    if (time >= 0) times[columns_[i]] = time;
  }
  if (times.size() == columns_.size()) {
    if (RankTimer* timer = add(cells.front(), number)) timer->times = std::move(times);
  }
  return true;
}

void RankTimers::take(std::string_view text, std::int64_t number) {
  const std::string_view line = logs::trimmed(text);
  if (take_row(line, number)) return;
  columns_.clear();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    is_in_list_ = false;
    name_.clear();
    return;
  }
  const std::string_view behind = logs::trimmed(line.substr(colon + 1));
  const int rank = rank_of_cell(line.substr(0, colon));
  // `rank 3: n2, 2.95 s`, which a row of a table has become: a number alone may count anything.
  const std::size_t comma = behind.rfind(", ");
  const std::string_view cell = comma == std::string_view::npos ? behind : behind.substr(comma + 2);
  const bool has_unit = !cell.empty() && logs::is_letter(cell.back());
  const double time = time_of_cell(cell);
  if (rank >= 0 && time >= 0 && (has_unit || (!name_.empty() && comma == std::string_view::npos))) {
    if (!is_in_list_ && add(name_.empty() ? "time" : name_, number) == nullptr) return;
    is_in_list_ = true;
    timers_.back().times[rank] = time;
    return;
  }
  is_in_list_ = false;
  constexpr std::size_t kLongestName = 60;
  name_ = behind.empty() && colon < kLongestName ? std::string(line.substr(0, colon)) : "";
}

bool is_own_work(std::string_view name) {
  const std::string small = lower_case(name);
  static constexpr std::array kWaits = {
      std::string_view{"recv"},   std::string_view{"send"},    std::string_view{"sync"},
      std::string_view{"reduce"}, std::string_view{"gather"},  std::string_view{"wait"},
      std::string_view{"comm"},   std::string_view{"barrier"}, std::string_view{"broadcast"}};
  return std::none_of(kWaits.begin(), kWaits.end(),
                      [&](std::string_view word) { return small.find(word) != std::string::npos; });
}

std::vector<int> slow_ranks(const std::vector<RankTimer>& timers) {
  constexpr double kMuchSlower = 1.5;
  constexpr std::size_t kFewestRanks = 3;
  constexpr double kMatters = 0.1;  // of the longest: the others are noise
  std::set<std::vector<int>> found;
  double longest = 0;
  for (const RankTimer& timer : timers) {
    for (const auto& [rank, time] : timer.times) {
      if (is_own_work(timer.name)) longest = std::max(longest, time);
    }
  }
  for (const RankTimer& timer : timers) {
    if (!is_own_work(timer.name) || timer.times.size() < kFewestRanks) continue;
    std::vector<double> times;
    for (const auto& [rank, time] : timer.times) times.push_back(time);
    std::sort(times.begin(), times.end());
    const double usual = times[(times.size() - 1) / 2];
    std::vector<int> slow;
    for (const auto& [rank, time] : timer.times) {
      if (usual > 0 && time > kMuchSlower * usual && time - usual > kMatters * longest)
        slow.push_back(rank);
    }
    const bool are_few = slow.size() * 4 <= timer.times.size() || slow.size() == 1;
    if (!slow.empty() && are_few) found.insert(slow);
  }
  return found.size() == 1 ? *found.begin() : std::vector<int>{};
}

}  // namespace ringside::hang

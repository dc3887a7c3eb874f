#include "diag/hangdetect/readers/rank_timers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/text.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/last_lines.h"
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

/// `rank 42`, `rank42`.  returns  -1: the cell names no rank
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

/// A time as a cell of a table has it: `1188.42`, `19.0 s`.
struct CellTime {
  double value = -1;      ///< below 0: the cell is no time
  std::string_view unit;  ///< empty: none
};

CellTime time_of_cell(std::string_view cell) {
  CellTime time;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), time.value);
  if (error != std::errc()) return {};
  time.unit = logs::trimmed(
      std::string_view(end, static_cast<std::size_t>(cell.data() + cell.size() - end)));
  const bool is_unit = time.unit.empty() || time.unit == "ms" || time.unit == "s" ||
                       time.unit == "us" || time.unit == "sec";
  return is_unit ? time : CellTime{};
}

/// Returns the seconds of a unit; 1 for any other text.
double seconds_of_unit(std::string_view unit) {
  return unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1;
}

struct NamedTime {
  std::string name;  ///< without numbers; empty: none
  double value =
      -1;  ///< in seconds where its unit is known, else as written; below 0: there is none
  bool is_time = false;  ///< by its unit, or by its name
};

/// Returns whether the lower-case name is of a rate: a lower value means a slower rank.
bool names_rate(std::string_view name) {
  static constexpr std::array kWords = {
      std::string_view{"/s"},     std::string_view{"clock"},      std::string_view{"clk"},
      std::string_view{"mhz"},    std::string_view{"tflops"},     std::string_view{"throughput"},
      std::string_view{"_per_s"}, std::string_view{"per second"}, std::string_view{"per_sec"}};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

/// Returns whether the name is of work that each rank does once a step.
bool names_work(std::string_view name) {
  static constexpr std::array kWords = {
      std::string_view{"step"},  std::string_view{"fwd"},     std::string_view{"bwd"},
      std::string_view{"iter"},  std::string_view{"forward"}, std::string_view{"backward"},
      std::string_view{"train"}, std::string_view{"compute"}, std::string_view{"optim"},
      std::string_view{"batch"}, std::string_view{"time"},    std::string_view{"gemm"},
      std::string_view{"gpu"},   std::string_view{"matmul"},  std::string_view{"kernel"}};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

/// Returns the last number of a part of a line, with the text before it, and its unit after it or in its name.
NamedTime named_time(std::string_view part) {
  NamedTime out;
  constexpr std::string_view kOfNumber = "0123456789.";
  const std::size_t last = part.find_last_of("0123456789");
  if (last == std::string_view::npos) return out;
  const std::size_t before = part.substr(0, last + 1).find_last_not_of(kOfNumber);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  if (begin > 0 && (logs::is_letter(part[begin - 1]) || part[begin - 1] == '_')) return out;
  const auto [end, error] = std::from_chars(part.data() + begin, part.data() + last + 1, out.value);
  if (error != std::errc() || end != part.data() + last + 1) return {};
  for (const char c : lower_case(part.substr(0, begin))) {
    if (!logs::is_digit(c)) out.name += c;
  }
  out.name = std::string(logs::trimmed(out.name.substr(0, out.name.find_last_not_of(" =:") + 1)));
  std::string_view unit = logs::trimmed(part.substr(last + 1));
  std::string_view name = out.name;
  while (name.ends_with(')') || name.ends_with(']')) name.remove_suffix(1);
  if (unit.empty() && name.size() > 1) {
    const std::size_t at = name.find_last_of(" _([-");
    if (at != std::string_view::npos) unit = name.substr(at + 1);
  }
  const double scale = seconds_of_unit(unit);
  const bool has_unit = scale < 1 || unit == "s" || unit == "sec" || unit == "secs" ||
                        unit == "seconds" || unit == "time";
  out.value *= scale;
  // `forward 912.4`: no number of steps has a fraction.
  const bool is_named =
      unit.empty() && part.substr(begin).find('.') != part.npos && names_work(out.name);
  out.is_time = is_named || (has_unit && (out.name.empty() || names_work(out.name)));
  // A lower rate means a slower rank: its inverse is a time.
  if (names_rate(unit)) out.name += " " + std::string(unit);
  if (names_rate(out.name) && out.value > 0) {
    out.value = 1 / out.value;
    out.is_time = true;
  }
  return out;
}

}  // namespace

RankTimer* RankTimers::add(std::string_view name, std::int64_t number) {
  const auto known = std::ranges::find(timers_, name, &RankTimer::name);
  if (known != timers_.end()) return &*known;
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
  std::map<int, CellTime> of_rank;
  std::set<std::string_view> units;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const CellTime time = time_of_cell(cells[i + 1]);
    if (time.value < 0) return true;
    of_rank[columns_[i]] = time;
    units.insert(time.unit);
  }
  // Of cells with different units, one without a unit cannot be compared.
  const bool is_comparable = units.size() == 1 || !units.contains("");
  if (of_rank.size() != columns_.size() || !is_comparable) return true;
  RankTimer* timer = add(cells.front(), number);
  if (timer == nullptr) return true;
  timer->times.clear();
  const bool is_rate = names_rate(lower_case(timer->name));
  for (const auto& [rank, time] : of_rank) {
    const double value = units.size() == 1 ? time.value : time.value * seconds_of_unit(time.unit);
    timer->times[rank] = is_rate && value > 0 ? 1 / value : value;
  }
  return true;
}

/// `fwd_ms 410.2, comm_ms 7800.1`, `step 120 fwd+bwd 1.02s, wait 8.84s`, `n2, 2.95 s`, and a number alone below a
/// heading.
void RankTimers::take_times(int rank, std::string_view text, std::int64_t number) {
  constexpr std::size_t kMostParts = 16;
  for (std::size_t part = 0; part < kMostParts && !text.empty(); ++part) {
    const std::size_t end = std::min(text.find_first_of(",;|"), text.size());
    const NamedTime one = named_time(logs::trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_of_list = one.name.empty() && !name_.empty();
    if (one.value < 0 || (!one.is_time && !is_of_list)) continue;
    RankTimer* timer = add(is_of_list ? name_ : one.name.empty() ? "time" : one.name, number);
    if (timer == nullptr) return;
    // A slow rank is slow in each step; one longer step can have any cause.
    const auto [known, is_new] = timer->times.try_emplace(rank, one.value);
    if (!is_new) known->second = std::min(known->second, one.value);
  }
}

void RankTimers::take(std::string_view text, std::int64_t number) {
  const std::string_view line = logs::trimmed(text);
  if (take_row(line, number)) return;
  columns_.clear();
  if (const RankedLine own = read_ranked_line(line); own.rank >= 0) {
    take_times(own.rank, own.text, number);
    return;
  }
  const std::size_t colon = line.find(':');
  constexpr std::size_t kLongestName = 60;
  const bool is_heading = colon < kLongestName && colon + 1 == line.size();
  name_ = is_heading ? std::string(line.substr(0, colon)) : "";
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
  // Chosen: above the noise between ranks, and below the effect of a clock that is halved.
  constexpr double kMuchSlower = 1.5;
  constexpr std::size_t kFewestRanks = 3;  // of two ranks, either may be the unusual one
  constexpr double kMatters = 0.1;         // of the longest: the others are noise
  std::set<std::vector<int>> found;
  double longest = 0;
  for (const RankTimer& timer : timers) {
    for (const auto& [rank, time] : timer.times) {
      if (is_own_work(timer.name) && !names_rate(lower_case(timer.name)))
        longest = std::max(longest, time);
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
      const bool does_matter =
          names_rate(lower_case(timer.name)) || time - usual > kMatters * longest;
      if (usual > 0 && time > kMuchSlower * usual && does_matter) slow.push_back(rank);
    }
    const bool are_few = slow.size() * 4 <= timer.times.size() || slow.size() == 1;
    if (!slow.empty() && are_few) found.insert(slow);
  }
  return found.size() == 1 ? *found.begin() : std::vector<int>{};
}

}  // namespace ringside::hang

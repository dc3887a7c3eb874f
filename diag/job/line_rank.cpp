#include "diag/job/line_rank.h"

#include <algorithm>
#include <charconv>

#include "diag/job/world_size.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::job {
namespace {

/// Returns the number after the last of these words.
int number_behind(std::string_view line, std::string_view word) {
  const std::size_t at = line.rfind(word);
  if (at == std::string_view::npos) return -1;
  int number = -1;
  const char* const digits = line.data() + at + word.size();
  const auto [end, error] = std::from_chars(digits, line.data() + line.size(), number);
  return error == std::errc() && number >= 0 ? number : -1;
}

}  // namespace

int rank_in_text(std::string_view line) {
  const int rank = number_behind(line, "[Rank ");
  if (rank >= 0) return rank;
  return number_behind(line, "[rank");
}

int rank_before_text(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" >"), line.size()));
  if (!line.starts_with("rank") && !line.starts_with("Rank") && !line.starts_with("RANK"))
    return -1;
  std::size_t at = 4;
  while (at < line.size() && at < 6 && std::string_view(" =:_-").find(line[at]) != line.npos) ++at;
  int number = -1;
  const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), number);
  const bool is_whole =
      end == line.data() + line.size() || *end == ':' || *end == ' ' || *end == ',';
  return error == std::errc() && is_whole && number >= 0 ? number : -1;
}

std::vector<std::int32_t> ranks_in_brackets(std::string_view line) {
  constexpr std::string_view kOpen = "[Rank ";
  const std::size_t at = line.find(kOpen);
  const std::size_t end = at == std::string_view::npos ? at : line.find(']', at);
  constexpr std::size_t kLongest = 80;
  constexpr std::size_t kMostListed = 4'096;  // ranks that a person lists in one line
  if (end == std::string_view::npos || end - at > kLongest) return {};
  const std::string_view list = line.substr(at + kOpen.size(), end - at - kOpen.size());
  if (list.find_first_not_of("0123456789-, ") != std::string_view::npos) return {};
  std::vector<std::int32_t> ranks = logs::parse_rank_list(list);
  const bool is_plausible =
      ranks.size() <= kMostListed &&
      std::ranges::all_of(ranks, [](std::int32_t rank) { return rank < kMostRanks; });
  if (!is_plausible) ranks.clear();
  return ranks;
}

}  // namespace ringside::job

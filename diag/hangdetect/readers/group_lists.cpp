#include "diag/hangdetect/readers/group_lists.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {
namespace {

/// `tp` of `tp`, `tensor`, `tensor_parallel`; empty: no kind of group
std::string_view kind_of_group(std::string_view word) {
  static constexpr std::array kKinds = {
      std::pair{std::string_view{"tensor"}, std::string_view{"tp"}},
      std::pair{std::string_view{"data"}, std::string_view{"dp"}},
      std::pair{std::string_view{"pipeline"}, std::string_view{"pp"}},
      std::pair{std::string_view{"expert"}, std::string_view{"ep"}},
      std::pair{std::string_view{"context"}, std::string_view{"cp"}},
      std::pair{std::string_view{"sequence"}, std::string_view{"sp"}}};
  for (const auto& [name, kind] : kKinds) {
    if (word == kind || word.starts_with(name)) return kind;
  }
  return {};
}

/// The kind that the words end with, `groups` and `parallel` apart.
std::string_view kind_before(std::string_view text) {
  for (int words = 0; words < 4; ++words) {
    std::size_t end = text.size();
    while (end > 0 && !logs::is_letter(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && (logs::is_letter(text[begin - 1]) || text[begin - 1] == '_')) --begin;
    const std::string_view word = text.substr(begin, end - begin);
    if (word.empty()) return {};
    if (const std::string_view kind = kind_of_group(word); !kind.empty()) return kind;
    const bool is_filler = word == "groups" || word == "group" || word == "parallel" ||
                           word == "ranks" || word == "size" || word == "process";
    if (!is_filler) return {};
    text = text.substr(0, begin);
  }
  return {};
}

}  // namespace

void read_group_lists(std::string_view line, GroupLists& groups) {
  constexpr std::size_t kMostLists = 4096;
  if (line.find('[') == std::string_view::npos) return;
  const std::string text = lower_case(line.substr(0, 2000));
  std::string_view kind;
  std::size_t last = 0;  // where the list before ends
  for (std::size_t open = text.find('['); open != std::string::npos;
       open = text.find('[', open + 1)) {
    const std::size_t close = text.find_first_of("[]", open + 1);
    if (close == std::string::npos) return;
    const std::string_view list = std::string_view(text).substr(open + 1, close - open - 1);
    const bool is_list = text[close] == ']' && list.find(',') != std::string_view::npos &&
                         list.find_first_not_of("0123456789, ") == std::string_view::npos;
    if (!is_list) continue;
    const std::string_view between = std::string_view(text).substr(last, open - last);
    const bool goes_on = last > 0 && between.find_first_not_of(", ][") == std::string_view::npos;
    if (!goes_on) kind = kind_before(std::string_view(text).substr(0, open));
    last = close + 1;
    if (kind.empty()) continue;
    auto& lists = groups[std::string(kind)];
    if (lists.size() < kMostLists) lists.push_back(logs::parse_rank_list(list));
  }
}

}  // namespace ringside::hang

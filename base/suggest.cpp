#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace ringside {

int edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  };
  // Optimal string alignment over three rolling rows: two back is needed for the swap.
  std::vector<int> two_back(b.size() + 1);
  std::vector<int> one_back(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) one_back[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replace = one_back[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({one_back[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], two_back[j - 2] + 1);
      }
    }
    std::swap(two_back, one_back);
    std::swap(one_back, row);
  }
  return one_back[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  int best_distance = std::max(2, static_cast<int>(word.size()) / 3);
  for (const std::string_view candidate : known) {
    const int distance = edit_distance(word, candidate);
    const bool keeps_a_letter =
        distance < static_cast<int>(std::max(word.size(), candidate.size()));
    if (keeps_a_letter &&
        (distance < best_distance || (best.empty() && distance == best_distance))) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view near = nearest_word(word, known);
  const std::string list = fmt::format("known: {}", fmt::join(known, ", "));
  return near.empty() ? list : fmt::format("did you mean '{}'? {}", near, list);
}

}  // namespace ringside

#include "sim/merge_links.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/mixed.h"

namespace ringside {

MergedLinks merge_links(std::span<const std::vector<int>> routes, const SimNetwork& network) {
  std::unordered_map<int, std::uint64_t> sets;  // [link]: hash of the routes that use it
  for (std::size_t i = 0; i < routes.size(); ++i) {
    // A route adds the hash of its number to the sum that identifies a set of routes.
    for (const int link : routes[i]) sets[link] += mixed(i + 1);
  }
  // In the order of links, so that equal routes always give the same result.
  std::vector<int> ids;
  ids.reserve(sets.size());
  for (const auto& [link, set] : sets) ids.push_back(link);
  std::ranges::sort(ids);
  MergedLinks merged;
  std::unordered_map<std::uint64_t, int> numbers;  // [hash of a set of routes]
  for (const int id : ids) {
    const BytesPerSecond rate = network.rate(id);
    const auto [place, is_first] =
        numbers.try_emplace(sets[id], static_cast<int>(merged.rates.size()));
    if (is_first) {
      merged.rates.push_back(rate);
      merged.ids.push_back(id);
    } else {
      BytesPerSecond& narrowest = merged.rates[static_cast<std::size_t>(place->second)];
      narrowest.value = std::min(narrowest.value, rate.value);
    }
  }
  merged.routes.reserve(routes.size());
  for (const std::vector<int>& route : routes) {
    std::vector<int>& list = merged.routes.emplace_back();
    for (const int id : route) {
      const int number = numbers[sets[id]];
      if (std::ranges::find(list, number) == list.end()) list.push_back(number);
    }
  }
  return merged;
}

}  // namespace ringside

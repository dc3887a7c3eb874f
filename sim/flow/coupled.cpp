#include "sim/flow/coupled.h"

#include <algorithm>
#include <limits>

namespace ringside {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kAsNarrow = 1e-12;  // relative difference below which link rates count as equal

/// A loaded link: its remaining rate, and the load of the flows that still grow.
struct Loaded {
  int link = 0;
  double left = 0;
  double growing = 0;
};

std::vector<Loaded> loaded_links(std::span<const CoupledFlow> flows,
                                 const std::function<double(int)>& rate) {
  std::vector<int> ids;
  for (const CoupledFlow& flow : flows) {
    for (const auto& [link, load] : flow.loads) {
      if (load > 0) ids.push_back(link);
    }
  }
  std::ranges::sort(ids);
  const auto repeated = std::ranges::unique(ids);
  ids.erase(repeated.begin(), repeated.end());
  std::vector<Loaded> links;
  links.reserve(ids.size());
  for (const int id : ids) links.push_back({.link = id, .left = rate(id)});
  return links;
}

}  // namespace

std::vector<double> share_coupled(std::span<const CoupledFlow> flows,
                                  const std::function<double(int)>& rate) {
  std::vector<Loaded> links = loaded_links(flows, rate);
  std::vector<std::size_t> place(links.empty() ? 0
                                               : static_cast<std::size_t>(links.back().link) + 1);
  for (std::size_t i = 0; i < links.size(); ++i) {
    place[static_cast<std::size_t>(links[i].link)] = i;
  }
  const auto at = [&](int id) -> Loaded& { return links[place[static_cast<std::size_t>(id)]]; };
  std::vector<double> shares(flows.size(), kUnbounded);
  std::vector<std::size_t> growing;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const auto& [link, load] : flows[i].loads) {
      if (load > 0) at(link).growing += load;
    }
    growing.push_back(i);
  }
  while (!growing.empty()) {
    double least = kUnbounded;
    for (const Loaded& link : links) {
      if (link.growing > 0) least = std::min(least, std::max(0.0, link.left) / link.growing);
    }
    if (least == kUnbounded) break;
    const double most = least * (1 + kAsNarrow);
    const auto is_held = [&](std::size_t flow) {
      return std::ranges::any_of(flows[flow].loads, [&](const auto& one) {
        if (one.second <= 0) return false;
        const Loaded& link = at(one.first);
        return link.left <= most * link.growing;
      });
    };
    std::vector<std::size_t> held;
    std::vector<std::size_t> others;
    for (const std::size_t flow : growing) (is_held(flow) ? held : others).push_back(flow);
    for (const std::size_t flow : held) {
      shares[flow] = least;
      for (const auto& [link, load] : flows[flow].loads) {
        if (load <= 0) continue;
        Loaded& one = at(link);
        one.left -= least * load;
        one.growing -= load;
      }
    }
    // Sums that should reach 0 keep rounding errors, so they are recomputed.
    for (Loaded& link : links) link.growing = 0;
    for (const std::size_t flow : others) {
      for (const auto& [link, load] : flows[flow].loads) {
        if (load > 0) at(link).growing += load;
      }
    }
    growing = std::move(others);
  }
  return shares;
}

}  // namespace ringside

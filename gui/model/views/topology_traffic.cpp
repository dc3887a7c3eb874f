#include <algorithm>

#include "gui/model/views/topology_view.h"

namespace ringside::gui {

std::vector<TopologyView::AtSwitch> TopologyView::switches_of(const Transfers& transfers,
                                                              const Machine* machine) {
  std::vector<AtSwitch> all;
  const auto at = [&](std::int32_t rank) -> AtSwitch& {
    const auto place = static_cast<std::size_t>(rank);
    if (all.size() <= place) all.resize(place + 1);
    if (all[place].group < 0) all[place].group = rank;
    return all[place];
  };
  const auto first_of = [&](std::int32_t rank) {
    while (at(rank).group != rank) rank = at(rank).group;
    return rank;
  };
  for (const Transfer& one : transfers.all) {
    if (!one.is_by_switch || std::min(one.from, one.to) < 0 ||
        std::max(one.from, one.to) >= kMostRanks) {
      continue;
    }
    const std::int32_t from = first_of(one.from);
    const std::int32_t to = first_of(one.to);
    at(std::max(from, to)).group = std::min(from, to);
    if (machine == nullptr || at(one.from).hop) continue;
    const auto way = machine->way(one.from, one.to, one.channel);
    for (std::size_t i = 0; i < way.size(); ++i) {
      if (machine->places()[way[i]].kind != MachinePlace::Kind::NvSwitch) continue;
      at(one.from).hop = Machine::Hop{way.front(), way[i]};
      at(one.to).hop = Machine::Hop{way.back(), way[i]};
    }
  }
  for (std::int32_t rank = 0; rank < std::ssize(all); ++rank) {
    AtSwitch& one = all[static_cast<std::size_t>(rank)];
    if (one.group >= 0) one.group = first_of(rank);
  }
  return all;
}

TopologyView::Traffic TopologyView::traffic_of(const Document& document,
                                               const CallFacts* const& call) {
  Traffic made{.transfers = transfers_of(document, *call), .edges = {}, .switches = {}};
  made.switches = switches_of(made.transfers, document.surround.ways.get());
  std::vector<Edge>& edges = made.edges;
  const auto add = [&](Edge edge) {
    if (edges.empty() || edges.back() != edge) edges.push_back(edge);
  };
  for (const Transfer& one : made.transfers.all) {
    if (!one.is_by_switch) {
      add({one.channel, one.from, one.to});
      continue;
    }
    add({one.channel, one.from, kSwitch});
    add({one.channel, kSwitch, one.to});
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  edges.shrink_to_fit();
  return made;
}

}  // namespace ringside::gui

#include "harness/hangs/roles.h"

#include <map>
#include <set>
#include <utility>

namespace ringside::hangs {
namespace {

using Seat = std::pair<int, int>;  // family, rank in the group

struct Takers {
  std::int64_t roles = 0;
  std::int64_t ranks = 0;
};

/// Returns the places that lines name, and the ranks at each place.
std::map<Seat, Takers> named_places(const Outline& outline) {
  std::map<Seat, Takers> places;
  for (const OutlineStep& line : outline.steps) {
    if (line.at) {
      places[{line.at->family, line.at->rank}];
    }
    if (line.kind == OutlineStep::Kind::Transfer) {
      places[{line.family, line.from}];
      places[{line.family, line.to}];
    }
  }
  return places;
}

/// Returns the families with shifts: a rank's peers in a shift depend on the size of its group.
std::set<int> shifted_families(const Outline& outline) {
  std::set<int> families;
  for (const OutlineStep& line : outline.steps) {
    if (line.kind == OutlineStep::Kind::Shift) families.insert(line.family);
  }
  return families;
}

/// Returns each rank's place in its group, by rank and family; -1: no line names the place, -2: the rank is in no
/// group of the family.
std::vector<std::vector<int>> places_of(const Outline& outline,
                                        const std::map<Seat, Takers>& named) {
  std::vector<std::vector<int>> places(static_cast<std::size_t>(outline.ranks),
                                       std::vector<int>(outline.families.size(), -2));
  for (std::size_t f = 0; f < outline.families.size(); ++f) {
    for (const std::vector<int>& members : outline.families[f].members) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        const int place = static_cast<int>(i);
        places[static_cast<std::size_t>(members[i])][f] =
            named.contains({static_cast<int>(f), place}) ? place : -1;
      }
    }
  }
  return places;
}

}  // namespace

Roles roles_of(const Outline& outline) {
  std::map<Seat, Takers> named = named_places(outline);
  const std::vector<std::vector<int>> places = places_of(outline, named);
  std::vector<std::vector<int>> sizes(static_cast<std::size_t>(outline.ranks));
  for (const int family : shifted_families(outline)) {
    for (std::vector<int>& own : sizes) own.push_back(0);
    for (const auto& members : outline.families[static_cast<std::size_t>(family)].members) {
      for (const int rank : members)
        sizes[static_cast<std::size_t>(rank)].back() = static_cast<int>(members.size());
    }
  }
  Roles roles;
  std::map<std::pair<std::vector<int>, std::vector<int>>, int> known;
  for (int rank = 0; rank < outline.ranks; ++rank) {
    const std::vector<int>& own = places[static_cast<std::size_t>(rank)];
    const auto [first, is_new] =
        known.try_emplace({own, sizes[static_cast<std::size_t>(rank)]}, rank);
    roles.like.push_back(first->second);
    if (is_new) roles.first_of.push_back(rank);
    for (std::size_t f = 0; f < own.size(); ++f) {
      if (own[f] < 0) continue;
      Takers& takers = named[{static_cast<int>(f), own[f]}];
      ++takers.ranks;
      if (is_new) ++takers.roles;
    }
  }
  const Takers all{static_cast<std::int64_t>(roles.first_of.size()), outline.ranks};
  for (const OutlineStep& line : outline.steps) {
    const auto add = [&](const Takers& takers) {
      roles.role_steps += takers.roles;
      roles.rank_steps += takers.ranks;
    };
    if (line.at) {
      add(named[{line.at->family, line.at->rank}]);
    } else if (line.kind == OutlineStep::Kind::Transfer) {
      add(named[{line.family, line.from}]);
      add(named[{line.family, line.to}]);
    } else {
      add(all);
    }
  }
  return roles;
}

}  // namespace ringside::hangs

#include "sim/simgrid/learnt_network.h"

#include "base/assert.h"
#include "sim/simgrid/wiring.h"

namespace ringside {

Status LearntNetwork::learn(const std::vector<SimTask>& tasks, Caller& caller) {
  std::map<std::pair<int, int>, const SwitchGroup*> groups;
  const auto note = [&](const Peer& peer, int channel, Rank from, Rank to) {
    if (peer.group != nullptr) {
      groups.try_emplace({channel, peer.group->id}, peer.group.get());
    } else if (peer.is_used()) {
      pairs_.try_emplace({from, to, channel});
    }
  };
  for (const SimTask& one : tasks) {
    for (const Peer& peer : one.task.send_peers) note(peer, one.channel, one.rank, peer.rank);
    for (const Peer& peer : one.task.recv_peers) note(peer, one.channel, peer.rank, one.rank);
  }

  WireQuestion question;
  question.pairs.reserve(pairs_.size());
  for (const auto& [pair, route] : pairs_) question.pairs.push_back(pair);
  for (const auto& [place, group] : groups) question.groups.push_back({*group, place.first});
  RINGSIDE_TRY(WireRoutes routes, caller.ask(std::move(question)));
  if (routes.pairs.size() != pairs_.size() || routes.groups.size() != groups.size()) {
    return Error{ErrorCode::Corrupt, "the simulation got other routes than it asked for"};
  }

  auto pair = routes.pairs.begin();
  for (auto& [key, route] : pairs_) route = std::move(*pair++);
  auto links = routes.groups.begin();
  for (const auto& [place, group] : groups) groups_[place] = std::move(*links++);
  rates_.insert(routes.rates.begin(), routes.rates.end());
  first_fabric_link_ = routes.first_fabric_link;
  return {};
}

SimRoute LearntNetwork::route(Rank from, Rank to, int channel) const {
  const auto found = pairs_.find({from, to, channel});
  RINGSIDE_ASSERT(found != pairs_.end(), "rank {} to {} on channel {} was not asked for",
                  to_int(from), to_int(to), channel);
  return found->second;
}

SimRoute LearntNetwork::group_route(const SwitchGroup& group, int channel) const {
  const auto found = groups_.find({channel, group.id});
  RINGSIDE_ASSERT(found != groups_.end(), "group {} on channel {} was not asked for", group.id,
                  channel);
  return {.links = found->second};
}

SimLink LearntNetwork::link(int id) const {
  const auto found = rates_.find(id);
  RINGSIDE_ASSERT(found != rates_.end(), "link {} came with no route", id);
  return {.rate = found->second, .name = {}};
}

}  // namespace ringside

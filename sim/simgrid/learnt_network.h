#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/network.h"
#include "sim/simgrid/caller.h"

namespace ringside {

struct SimTask;

/// The part of the caller's network that a simulation uses. It is requested in one question once
/// the tasks are known.
class LearntNetwork : public SimNetwork {
 public:
  explicit LearntNetwork(int nranks) : nranks_(nranks) {}

  /// Requests the routes of all ports of the tasks, and the links of these routes.
  /// errors  those of Caller::ask()
  Status learn(const std::vector<SimTask>& tasks, Caller& caller);

  [[nodiscard]] int nranks() const override { return nranks_; }
  [[nodiscard]] SimRoute route(Rank from, Rank to, int channel) const override;
  [[nodiscard]] SimRoute group_route(const SwitchGroup& group, int channel) const override;
  [[nodiscard]] SimLink link(int id) const override;
  [[nodiscard]] int first_fabric_link() const override { return first_fabric_link_; }

 private:
  int nranks_;
  std::map<WireQuestion::Pair, SimRoute> pairs_;
  std::map<std::pair<int, int>, std::vector<int>> groups_;  ///< by channel and id
  std::unordered_map<int, BytesPerSecond> rates_;
  int first_fabric_link_ = std::numeric_limits<int>::max();
};

}  // namespace ringside

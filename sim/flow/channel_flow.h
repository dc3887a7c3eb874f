#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/collectives/plan.h"
#include "sim/event/fold.h"

namespace ringside {

/// What the channels that are alike have in common: one task and one line for each kind.
struct FlowShape {
  EventJob job;
  std::vector<double> bytes = {};  ///< by kind of line: on the wire, of the whole call
  std::int64_t loops = 0;          ///< of the task with most
  int turns = 1;
  double first = 1;               ///< of all bytes, what the first loop of each turn sends
  std::int64_t steps_a_loop = 0;  ///< of the kinds
  std::int64_t steps = 0;         ///< of all tasks that they represent
  std::int64_t transfers = 0;
};

/// One channel of a call, by its kinds of lines and where these lie.
struct ChannelFlow {
  std::shared_ptr<const FlowShape> shape;
  /// Which line lies over which links, one after the other: [first[i], first[i + 1]) of `links`.
  std::vector<std::int32_t> kinds = {};
  std::vector<std::uint32_t> first = {0};
  std::vector<int> links = {};
  /// What each line joins: two ranks, or a group.
  struct Joins {
    Rank from = kNoRank, to = kNoRank;
    std::shared_ptr<const SwitchGroup> group = nullptr;
  };
  std::vector<Joins> lines = {};
};

/// The shapes that are known, by their colour.
///
/// Threads  any
class FlowShapes {
 public:
  FlowShapes();
  ~FlowShapes();
  FlowShapes(const FlowShapes&) = delete;
  FlowShapes& operator=(const FlowShapes&) = delete;

  /// errors  as wire_channel()
  Result<ChannelFlow> channel(const SimRequest& request, const TaskPlanner& planner, int number);

  /// The same for a channel that is like a known one (TaskPlanner::are_alike()): only its routes are looked up.
  Result<ChannelFlow> channel_like(const SimRequest& request, const TaskPlanner& planner,
                                   int number, const ChannelFlow& known);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace ringside

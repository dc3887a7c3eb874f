#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/collectives/plan.h"
#include "sim/event/fold.h"

namespace ringside {

/// The folded job (event/fold.h) that equivalent channels have in common: one task and one line for
/// each class. The class of a line is called its kind.
struct FlowShape {
  EventJob job;
  std::vector<double> bytes = {};  ///< by kind of line: bytes on the wire of the whole call
  std::int64_t loops = 0;          ///< loops of the task with the most loops
  int turns = 1;
  double first = 1;               ///< share of all bytes that the first loop of each turn sends
  std::int64_t steps_a_loop = 0;  ///< steps of the folded tasks in one loop
  std::int64_t steps = 0;         ///< steps of all tasks that the folded tasks represent
  std::int64_t transfers = 0;
};

/// One channel of a call: its shape, and the links that each of its lines uses.
struct ChannelFlow {
  std::shared_ptr<const FlowShape> shape;
  /// Line i is of kind kinds[i] and uses the links [first[i], first[i + 1]) of `links`.
  std::vector<std::int32_t> kinds = {};
  std::vector<std::uint32_t> first = {0};
  std::vector<int> links = {};
  /// The ends of a line: two ranks, or a group.
  struct Joins {
    Rank from = kNoRank, to = kNoRank;
    std::shared_ptr<const SwitchGroup> group = nullptr;
  };
  std::vector<Joins> lines = {};
};

/// A cache of the shapes of one request: all calls have the same request. The key is the shape's colour
/// (FoldedShape::colour).
///
/// Threads  any
class FlowShapes {
 public:
  FlowShapes();
  ~FlowShapes();
  FlowShapes(const FlowShapes&) = delete;
  FlowShapes& operator=(const FlowShapes&) = delete;

  /// Returns the channel of this number and adds its shape to the cache if it is new.
  /// errors  as wire_channel()
  Result<ChannelFlow> channel(const SimRequest& request, const TaskPlanner& planner, int number);

  /// Returns a channel that is equivalent to a known one (TaskPlanner::are_alike()). It looks up
  /// routes only, and leaves `ChannelFlow::lines` empty. shape  `known` was returned by channel()
  /// errors  as wire_channel()
  Result<ChannelFlow> channel_like(const SimRequest& request, const TaskPlanner& planner,
                                   int number, const ChannelFlow& known);

 private:
  struct Known;
  std::unique_ptr<Known> known_;
};

}  // namespace ringside

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/collectives/plan.h"
#include "engine/collectives/record.h"
#include "sim/event/lines.h"

namespace ringside {

/// The part of one channel that one rank runs.
struct EventTask {
  std::int32_t rank = 0;
  std::int32_t channel = 0;
  ChannelTask task;
  SharedProgram steps_of = {};
  /// By port: index of the LineEnd; -1: unused port.
  std::vector<std::int32_t> send = {}, recv = {};
  std::uint32_t steps = 0;  ///< steps that its strands have executed
  /// Number of tasks that this task represents (folded jobs).
  std::int64_t copies = 1;
  double end = 0;  ///< simulated time of its end, s

  [[nodiscard]] const Program& program() const { return *steps_of.program; }
  /// Returns this rank's number of a chunk of the program.
  [[nodiscard]] std::int32_t chunk(std::int32_t of_program) const {
    return (of_program + steps_of.turned) % program().chunks;
  }
  /// Returns the LineEnds that the steps of a strand send to.
  [[nodiscard]] std::vector<std::int32_t> sends_of(int strand) const;
};

/// The input of the event simulation: the tasks, and the lines between them.
struct EventJob {
  std::vector<EventTask> tasks;  ///< [rank x nchannels + channel]
  std::vector<EventLine> lines;
  std::vector<LineEnd> ends;
  std::vector<BytesPerSecond> links;  ///< rate of each link
  bool is_folded = false;
  bool is_even = false;  ///< each chunk counts as the first one of its loop
  /// Only in a folded job: for each original line, the line that represents it and its link ids in
  /// the network.
  std::vector<std::pair<std::int32_t, std::vector<int>>> on_links = {};
};

/// The routes of the lines that share links.
struct EventPaths {
  std::vector<BytesPerSecond> rates;         ///< rates of the shared links
  std::vector<std::vector<LinkUse>> routes;  ///< by path: its shared links
};

/// Gives each line a rate or a path. A line gets a rate if it uses its links alone, or shares them
/// only with equivalent lines that are never ahead of it. All other lines get a path.
EventPaths lay_paths(EventJob& job);

/// Builds the tasks and lines of a call.
/// errors  as plan_channels(). Unsupported: two ranks exchange messages, but no route joins them
Result<EventJob> wire_events(const SimRequest& request);

/// Returns the time from a message's last byte on the links of the route to its arrival, s.
double latency_of(const SimRequest& request, const SimRoute& route);

/// Builds one channel of the call. It leaves EventJob::links and EventLine::uses empty.
/// errors  as wire_events()
Result<EventJob> wire_channel(const SimRequest& request, const TaskPlanner& planner, int channel);

}  // namespace ringside

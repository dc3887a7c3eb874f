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
  std::uint32_t steps = 0;  ///< number of steps that its strands have executed
  /// Number of tasks that this task represents (folded jobs).
  std::int64_t copies = 1;
  double end = 0;  ///< simulated time of its end, s

  [[nodiscard]] const Program& program() const { return *steps_of.program; }
  /// Returns the chunk number of this rank that corresponds to chunk `of_program` of the shared program
  /// (SharedProgram::turned).
  [[nodiscard]] std::int32_t chunk(std::int32_t of_program) const {
    return (of_program + steps_of.turned) % program().chunks;
  }
  /// Returns the LineEnds that the steps of a strand send to.
  [[nodiscard]] std::vector<std::int32_t> sends_of(int strand) const;
};

/// The input of the event simulation. A line connects the ports of tasks (lines.h); it crosses links of the network.
struct EventJob {
  std::vector<EventTask> tasks;  ///< [rank x nchannels + channel]
  std::vector<EventLine> lines;
  std::vector<LineEnd> ends;
  std::vector<BytesPerSecond> links;  ///< rate of each link
  bool is_folded = false;  ///< each task and line represents `copies` equivalent ones (fold.h)
  /// Each chunk of a loop counts as large as chunk 0, so that shorter last chunks do not prevent folding (fold.h).
  bool is_even = false;
  /// Only from fold(): for each line before folding, the index of the line that represents it, and its links' ids in
  /// the SimNetwork.
  std::vector<std::pair<std::int32_t, std::vector<int>>> original_lines = {};
};

/// The sets of shared links that lines use. Lines that use the same set share one path.
struct EventPaths {
  std::vector<BytesPerSecond> rates;         ///< rate of each shared link
  std::vector<std::vector<LinkUse>> routes;  ///< [EventLine::path]: its links, indexes into `rates`
};

/// Sets EventLine::rate of each line whose links no other line of the job uses: the lowest rate of its links, each
/// divided by LinkUse::lines. Sets EventLine::path of all other lines. Lines that a folded line represents count as
/// that line, because their messages cross the links at the same times.
EventPaths lay_paths(EventJob& job);

/// Builds the tasks and lines of a call.
/// errors  as plan_channels(), no_route_between(), no_route_through_switch()
Result<EventJob> wire_events(const SimRequest& request);

/// Returns the time from the moment when a message's last byte has crossed the links to its arrival, s: SimCosts::step
/// of the slowest link, plus SimRoute::beyond.
double latency_of(const SimRequest& request, const SimRoute& route);

/// Builds one channel of the call. It leaves EventJob::links and EventLine::uses empty.
/// errors  as wire_events()
Result<EventJob> wire_channel(const SimRequest& request, const TaskPlanner& planner, int channel);

}  // namespace ringside

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/collectives/plan.h"
#include "engine/collectives/record.h"
#include "sim/event/lines.h"

namespace ringside {

/// One rank's part of one channel.
struct EventTask {
  std::int32_t rank = 0;
  std::int32_t channel = 0;
  ChannelTask task;
  SharedProgram steps_of = {};
  std::vector<std::int32_t> send = {}, recv = {};  ///< LineEnds by port; -1: never used
  std::uint32_t steps = 0;                         ///< that its strands have taken
  std::int64_t copies = 1;                         ///< tasks that it represents
  double end = 0;                                  ///< on the simulated clock, s

  [[nodiscard]] const Program& program() const { return *steps_of.program; }
  /// The number of one of the program's chunks on this rank.
  [[nodiscard]] std::int32_t chunk(std::int32_t of_program) const {
    return (of_program + steps_of.turned) % program().chunks;
  }
  /// The ends that a strand's steps send by.
  [[nodiscard]] std::vector<std::int32_t> sends_of(int strand) const;
};

/// What is simulated: tasks, and the lines that join them.
struct EventJob {
  std::vector<EventTask> tasks;  ///< [rank x nchannels + channel]
  std::vector<EventLine> lines;
  std::vector<LineEnd> ends;
  std::vector<BytesPerSecond> links;  ///< rates
  bool is_folded = false;
  bool is_even = false;  ///< each chunk counts as the first one of its loop
  /// Of a folded job: for each original line the line that represents it, and its links in the network.
  std::vector<std::pair<std::int32_t, std::vector<int>>> on_links = {};
};

/// The ways of lines that share links.
struct EventPaths {
  std::vector<BytesPerSecond> rates;         ///< of the links that lines share
  std::vector<std::vector<LinkUse>> routes;  ///< over those
};

/// Lines that have their links for themselves, or share them with their like alone, which are never ahead of them, get
/// a rate; the others a path.
EventPaths lay_paths(EventJob& job);

/// errors  as plan_channels(). Unsupported: two ranks that must talk, and no way between them
Result<EventJob> wire_events(const SimRequest& request);

/// From when a message's last byte has crossed such a way until it is there, s.
double latency_of(const SimRequest& request, const SimRoute& route);

/// One channel of it alone, without the links that lines share: `links` and their `uses` stay empty.
Result<EventJob> wire_channel(const SimRequest& request, const TaskPlanner& planner, int channel);

}  // namespace ringside

#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "sim/simgrid/connection.h"
#include "sim/simgrid/platform.h"
#include "sim/simgrid/sim_primitives.h"
#include "sim/simulate.h"

namespace ringside {

/// One actor of a rank's task on a channel.
struct SimStrand {
  std::vector<SimConnection*> receives = {};  ///< connections whose mailboxes belong to the actor
  std::vector<SimSendEnd*> sends = {};
  std::unique_ptr<SimPrimitives> primitives = nullptr;
};

/// The part of one channel that one rank runs.
struct SimTask {
  Rank rank{0};
  int channel = 0;
  ChannelTask task;
  simgrid::s4u::Host* host = nullptr;
  std::vector<SimPort> send_ports = {}, recv_ports = {};
  std::vector<SimStrand> strands = {};
  std::uint32_t steps = 0;
  std::uint32_t traced = 0;  ///< steps (or slices) recorded in the trace
  double end = 0;            ///< simulated time of its end, s
};

/// Joins the ports of all tasks by connections and groups, and adds their routes to the platform.
///
/// Ownership  owns connections and groups; platform and request outlive it
class Wiring {
 public:
  Wiring(const SimRequest& request, SimgridPlatform& platform)
      : request_(request), platform_(platform) {}

  /// tasks   tasks of all ranks, at [rank x nchannels + channel]
  /// errors  as no_route_between(), no_route_through_switch()
  Status connect(std::vector<SimTask>& tasks);

  struct Group {
    std::unique_ptr<SimGroup> group;
    simgrid::s4u::Host* host;
  };
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<SimLane*>& lanes() const { return lanes_; }
  /// Returns the number of steps that all ranks will execute. Valid after connect().
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  Status connect_ports(SimTask& task, std::vector<SimTask>& tasks);
  void divide_ports(SimTask& task);
  Result<SimConnection*> connection(const SimTask& from, const SimTask& to, int index);
  [[nodiscard]] int count_host_kinds() const;
  void lay_routes(std::vector<SimTask>& tasks);
  Result<SimGroup*> group(const SwitchGroup& members, int channel);

  /// A connection without a route yet.
  struct Joined {
    Rank from, to;
    int channel;
    const SimConnection* connection;
  };

  const SimRequest& request_;
  SimgridPlatform& platform_;
  std::vector<Joined> joined_;
  std::unordered_map<std::uint64_t, std::unique_ptr<SimConnection>> connections_;
  std::map<std::pair<int, int>, SimGroup*> group_of_;  ///< by channel and id
  std::vector<Group> groups_;
  std::vector<SimLane*> lanes_;  ///< all connections and groups, in the order of creation
  std::int64_t steps_ = 0;
};

}  // namespace ringside

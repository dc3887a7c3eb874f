#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "sim/simgrid/connection.h"
#include "sim/simgrid/platform.h"
#include "sim/simgrid/sim_primitives.h"
#include "sim/simulate.h"

namespace ringside {

/// What one actor of a rank's task on a channel runs.
struct SimStrand {
  std::vector<SimConnection*> receives = {};  ///< whose mailboxes are the actor's
  std::vector<SimSendEnd*> sends = {};
  std::unique_ptr<SimPrimitives> primitives = nullptr;
};

/// One rank's part of one channel.
struct SimTask {
  Rank rank{0};
  int channel = 0;
  ChannelTask task;
  simgrid::s4u::Host* host = nullptr;
  std::vector<SimPort> send_ports = {}, recv_ports = {};
  std::vector<SimStrand> strands = {};
  std::uint32_t steps = 0;
  std::uint32_t traced = 0;  ///< steps, or slices of them, that the trace has
  double end = 0;            ///< on the simulated clock
};

/// Joins the ports of all tasks by connections and groups, and lays their routes.
///
/// Ownership  owns connections and groups; platform and request outlive it
class Wiring {
 public:
  Wiring(const SimRequest& request, SimgridPlatform& platform)
      : request_(request), platform_(platform) {}

  /// tasks   of all ranks, [rank x nchannels + channel]
  /// errors  Unsupported: no way between two ranks that must talk
  Status connect(std::vector<SimTask>& tasks);

  struct Group {
    std::unique_ptr<SimGroup> group;
    simgrid::s4u::Host* host;
  };
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<SimLane*>& lanes() const { return lanes_; }
  /// That all ranks will take together, once connected.
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  Status connect_ports(SimTask& task, std::vector<SimTask>& tasks);
  void divide_ports(SimTask& task);
  Result<SimConnection*> connection(const SimTask& from, const SimTask& to, int index);
  [[nodiscard]] int count_host_kinds() const;
  void lay_routes(std::vector<SimTask>& tasks);
  Result<SimGroup*> group(const SwitchGroup& members, int channel);

  /// A connection whose route is not laid yet.
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
  std::vector<SimLane*> lanes_;  ///< all of both, in the order of making
  std::int64_t steps_ = 0;
};

}  // namespace ringside

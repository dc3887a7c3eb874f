#include "sim/event/wiring.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

#include "base/mixed.h"
#include "engine/collectives/plan.h"
#include "sim/merge_links.h"
#include "sim/outcome.h"

namespace ringside {
namespace {

/// The two ranks of a connection, and the connection's number between them.
struct Joined {
  Rank from, to;
  int channel, index;
  friend bool operator==(const Joined&, const Joined&) = default;

  struct Hash {
    std::size_t operator()(const Joined& key) const {
      const auto pair = static_cast<std::uint64_t>(to_int(key.from)) << 32 |
                        static_cast<std::uint32_t>(to_int(key.to));
      return mixed(pair ^ mixed(static_cast<std::uint64_t>(2 * key.channel + key.index)));
    }
  };
};

class Wiring {
 public:
  explicit Wiring(const SimRequest& request) : request_(request) {}

  Result<EventJob> run() {
    RINGSIDE_TRY(const TaskPlanner planner,
                 TaskPlanner::make(request_.choice, request_.channels, request_.call));
    for (int rank = 0; rank < request_.network->nranks(); ++rank) {
      RINGSIDE_TRY(auto planned, planner.tasks(Rank{rank}));
      int channel = 0;
      for (ChannelTask& task : planned) add(rank, channel++, std::move(task));
    }
    RINGSIDE_TRY(join());
    note_links();
    return std::move(job_);
  }

  Result<EventJob> run(const TaskPlanner& planner, int channel) {
    const auto nranks = static_cast<std::size_t>(request_.network->nranks());
    job_.tasks.reserve(nranks);
    job_.lines.reserve(nranks);
    job_.ends.reserve(2 * nranks);
    pairs_.reserve(nranks);
    for (int rank = 0; rank < request_.network->nranks(); ++rank) {
      RINGSIDE_TRY(ChannelTask task, planner.task(Rank{rank}, channel));
      add(rank, channel, std::move(task));
    }
    RINGSIDE_TRY(join());
    return std::move(job_);
  }

 private:
  void add(int rank, int channel, ChannelTask task) {
    EventTask& one = job_.tasks.emplace_back(
        EventTask{.rank = rank, .channel = channel, .task = std::move(task)});
    one.steps_of = book_.of(one.task);
  }

  /// Connects all ends by lines.
  Status join() {
    for (EventTask& task : job_.tasks) {
      for (const Peer& peer : task.task.send_peers) {
        RINGSIDE_TRY(const std::int32_t end, end_of(task, peer, true));
        task.send.push_back(end);
      }
      for (const Peer& peer : task.task.recv_peers) {
        RINGSIDE_TRY(const std::int32_t end, end_of(task, peer, false));
        task.recv.push_back(end);
      }
    }
    return {};
  }

  Result<std::int32_t> end_of(const EventTask& task, const Peer& peer, bool sends) {
    if (!peer.is_used()) return -1;
    if (peer.group != nullptr) return end_of_group(task, peer.group, sends);
    const Rank me{task.rank};
    const Rank from = sends ? me : peer.rank;
    const Rank to = sends ? peer.rank : me;
    RINGSIDE_TRY(const std::int32_t line, connection(from, to, task.channel, peer.index));
    const EventLine& joined = job_.lines[static_cast<std::size_t>(line)];
    return (sends ? joined.senders : joined.receivers).front();
  }

  Result<std::int32_t> end_of_group(const EventTask& task,
                                    const std::shared_ptr<const SwitchGroup>& shared, bool sends) {
    const SwitchGroup& group = *shared;
    RINGSIDE_TRY(const std::int32_t line, group_line(shared, task.channel));
    const EventLine& joined = job_.lines[static_cast<std::size_t>(line)];
    const std::vector<Rank>& members = sends ? group.senders : group.receivers;
    const auto place = std::ranges::find(members, Rank{task.rank}) - members.begin();
    RINGSIDE_ASSERT(place < std::ssize(members), "rank {} is not in its group", task.rank);
    const std::int32_t end =
        (sends ? joined.senders : joined.receivers)[static_cast<std::size_t>(place)];
    LineEnd& mine = job_.ends[static_cast<std::size_t>(end)];
    mine.members = sends ? &group.receivers : &group.senders;
    mine.peer = mine.members->front();
    return end;
  }

  std::int32_t add_end(std::int32_t line, Rank peer) {
    job_.ends.push_back({.line = line, .peer = peer});
    return static_cast<std::int32_t>(job_.ends.size()) - 1;
  }

  Result<std::int32_t> connection(Rank from, Rank to, int channel, int index) {
    const auto [place, is_new] = pairs_.try_emplace(Joined{from, to, channel, index},
                                                    static_cast<std::int32_t>(job_.lines.size()));
    if (!is_new) return place->second;
    SimRoute route = request_.network->route(from, to, channel);
    if (route.links.empty()) return no_route_between(from, to);
    EventLine& line = job_.lines.emplace_back();
    line.latency = latency_of(request_, route);
    line.efficiency = request_.costs.share[static_cast<std::size_t>(route.slowest)];
    line.first_sender = from;
    line.links = std::move(route.links);
    line.senders = {add_end(place->second, to)};
    line.receivers = {add_end(place->second, from)};
    return place->second;
  }

  Result<std::int32_t> group_line(const std::shared_ptr<const SwitchGroup>& shared, int channel) {
    const SwitchGroup& group = *shared;
    const auto [place, is_new] =
        groups_.try_emplace({channel, group.id}, static_cast<std::int32_t>(job_.lines.size()));
    if (!is_new) return place->second;
    SimRoute route = request_.network->group_route(group, channel);
    if (route.links.empty()) return no_route_through_switch(group.senders.front());
    EventLine& line = job_.lines.emplace_back();
    const bool is_network = group.medium == SwitchGroup::Medium::Network;
    const SimCosts& costs = request_.costs;
    line.is_group = true;
    line.group = shared;
    line.latency = (is_network ? costs.network_reduction : costs.nvswitch).count();
    line.efficiency = is_network ? 1 : costs.nvswitch_efficiency;
    line.first_sender = group.senders.front();
    line.links = std::move(route.links);
    for (std::size_t i = 0; i < group.senders.size(); ++i) {
      line.senders.push_back(add_end(place->second, kNoRank));
    }
    for (std::size_t i = 0; i < group.receivers.size(); ++i) {
      line.receivers.push_back(add_end(place->second, kNoRank));
    }
    return place->second;
  }

  void note_links() {
    std::vector<std::vector<int>> routes;
    routes.reserve(job_.lines.size());
    for (const EventLine& line : job_.lines) routes.push_back(line.links);
    MergedLinks merged = merge_links(routes, *request_.network);
    job_.links = std::move(merged.rates);
    for (std::size_t i = 0; i < job_.lines.size(); ++i) {
      for (const int link : merged.routes[i]) job_.lines[i].uses.push_back({link});
    }
  }

  const SimRequest& request_;
  ProgramBook book_;
  EventJob job_;
  std::unordered_map<Joined, std::int32_t, Joined::Hash> pairs_;
  std::map<std::pair<int, int>, std::int32_t> groups_;  ///< by channel and group id
};

}  // namespace

std::vector<std::int32_t> EventTask::sends_of(int strand) const {
  std::vector<std::int32_t> ends;
  for (const StepRun& run : program().steps) {
    if (run.strand != strand) continue;
    for_each_step(program(), run, [&](const Step& step) {
      for_each_port(step.to, [&](int number) {
        const std::int32_t mine = send[static_cast<std::size_t>(number)];
        if (std::ranges::find(ends, mine) == ends.end()) ends.push_back(mine);
      });
    });
  }
  return ends;
}

EventPaths lay_paths(EventJob& job) {
  std::vector<int> users(job.links.size());
  for (const EventLine& line : job.lines) {
    for (const LinkUse& use : line.uses) ++users[static_cast<std::size_t>(use.link)];
  }
  EventPaths paths;
  std::vector<int> number(job.links.size(), -1);  // index among the shared links; -1: not shared
  std::map<std::vector<LinkUse>, int> known;
  for (EventLine& line : job.lines) {
    const bool is_alone = std::ranges::all_of(line.uses, [&](const LinkUse& use) {
      return users[static_cast<std::size_t>(use.link)] == 1;
    });
    if (is_alone) {
      line.rate = std::numeric_limits<double>::infinity();
      for (const LinkUse& use : line.uses) {
        line.rate =
            std::min(line.rate, job.links[static_cast<std::size_t>(use.link)].value / use.lines);
      }
      continue;
    }
    std::vector<LinkUse> path;
    for (const LinkUse& use : line.uses) {
      int& mine = number[static_cast<std::size_t>(use.link)];
      if (mine < 0) {
        mine = static_cast<int>(paths.rates.size());
        paths.rates.push_back(job.links[static_cast<std::size_t>(use.link)]);
      }
      path.push_back({mine, use.lines});
    }
    std::ranges::sort(path);
    const auto [place, is_new] = known.try_emplace(path, static_cast<int>(paths.routes.size()));
    if (is_new) paths.routes.push_back(path);
    line.path = place->second;
  }
  return paths;
}

double latency_of(const SimRequest& request, const SimRoute& route) {
  return (request.costs.step[static_cast<std::size_t>(route.slowest)] + route.beyond).count();
}

Result<EventJob> wire_events(const SimRequest& request) { return Wiring(request).run(); }

Result<EventJob> wire_channel(const SimRequest& request, const TaskPlanner& planner, int channel) {
  return Wiring(request).run(planner, channel);
}

}  // namespace ringside

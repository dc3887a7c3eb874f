#include "sim/simgrid/wiring.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "engine/collectives/record.h"
#include "engine/protocol/slot_fifo.h"
#include "sim/outcome.h"

namespace ringside {
Status Wiring::connect(std::vector<SimTask>& tasks) {
  for (SimTask& task : tasks) {
    RINGSIDE_TRY(connect_ports(task, tasks));
    divide_ports(task);
  }
  lay_routes(tasks);
  return {};
}

/// Returns how many SimGrid hosts represent a rank: channel c uses host c modulo that number. It is the smallest
/// number with one route for each pair of hosts, because with fewer hosts SimGrid's state stays longer in the caches.
int Wiring::count_host_kinds() const {
  const int nchannels = request_.choice.nchannels;
  for (int kinds = 1; kinds < nchannels; ++kinds) {
    std::map<std::tuple<Rank, Rank, int>, const std::vector<int>*> routes;
    const bool is_enough = std::ranges::all_of(joined_, [&](const Joined& one) {
      const auto [place, is_first] =
          routes.try_emplace({one.from, one.to, one.channel % kinds}, &one.connection->links);
      return is_first || *place->second == one.connection->links;
    });
    if (is_enough) return kinds;
  }
  return nchannels;
}

void Wiring::lay_routes(std::vector<SimTask>& tasks) {
  const int kinds = count_host_kinds();
  std::vector<simgrid::s4u::Host*> hosts(
      static_cast<std::size_t>(request_.network->nranks() * kinds));
  const auto host_of = [&](Rank rank, int channel) -> simgrid::s4u::Host*& {
    return hosts[static_cast<std::size_t>(to_int(rank) * kinds + channel % kinds)];
  };
  for (SimTask& task : tasks) {
    simgrid::s4u::Host*& host = host_of(task.rank, task.channel);
    if (host == nullptr) host = platform_.add_host();
    task.host = host;
  }
  for (const Joined& one : joined_) {
    platform_.add_route(host_of(one.from, one.channel), host_of(one.to, one.channel),
                        one.connection->links);
  }
}

Status Wiring::connect_ports(SimTask& task, std::vector<SimTask>& tasks) {
  const auto task_of = [&](Rank rank) -> const SimTask& {
    return tasks[static_cast<std::size_t>(to_int(rank) * request_.choice.nchannels + task.channel)];
  };
  for (const Peer& peer : task.task.send_peers) {
    SimPort& port = task.send_ports.emplace_back();
    if (peer.group != nullptr) {
      RINGSIDE_TRY(SimGroup* const joined, group(*peer.group, task.channel));
      port = {.send = &joined->send_end(task.rank),
              .peer = peer.group->receivers.front(),
              .members = &peer.group->receivers};
    } else if (peer.is_used()) {
      RINGSIDE_TRY(SimConnection* const joined, connection(task, task_of(peer.rank), peer.index));
      port = {.send = joined, .peer = peer.rank};
    }
  }
  for (const Peer& peer : task.task.recv_peers) {
    SimPort& port = task.recv_ports.emplace_back();
    if (peer.group != nullptr) {
      RINGSIDE_TRY(SimGroup* const joined, group(*peer.group, task.channel));
      port = {.recv = &joined->recv_end(task.rank),
              .peer = peer.group->senders.front(),
              .members = &peer.group->senders};
    } else if (peer.is_used()) {
      RINGSIDE_TRY(SimConnection* const joined, connection(task_of(peer.rank), task, peer.index));
      port = {.recv = joined, .peer = peer.rank};
    }
  }
  return {};
}

/// A port belongs to the strand whose steps use it.
void Wiring::divide_ports(SimTask& task) {
  task.strands.resize(static_cast<std::size_t>(task.task.strands.count));
  std::vector<bool> sends(task.send_ports.size());
  std::vector<bool> receives(task.recv_ports.size());
  const Program program = record(task.task);
  steps_ += count_steps(program);
  for (const StepRun& run : program.steps) {
    SimStrand& strand = task.strands[run.strand];
    for_each_step(program, run, [&](const Step& step) {
      for_each_port(step.to, [&](int number) {
        const auto index = static_cast<std::size_t>(number);
        if (sends[index]) return;
        sends[index] = true;
        strand.sends.push_back(task.send_ports[index].send);
      });
      for_each_port(step.from, [&](int number) {
        const auto index = static_cast<std::size_t>(number);
        if (receives[index]) return;
        receives[index] = true;
        auto* const joined = dynamic_cast<SimConnection*>(task.recv_ports[index].recv);
        if (joined != nullptr) strand.receives.push_back(joined);
      });
    });
  }
}

Result<SimConnection*> Wiring::connection(const SimTask& from, const SimTask& to, int index) {
  const auto nranks = static_cast<std::uint64_t>(request_.network->nranks());
  const auto nchannels = static_cast<std::uint64_t>(request_.choice.nchannels);
  const auto number = [](auto value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t key =
      ((number(to_int(from.rank)) * nchannels + number(from.channel)) * nranks +
       number(to_int(to.rank))) *
          2 +
      number(index);
  std::unique_ptr<SimConnection>& joined = connections_[key];
  if (joined != nullptr) return joined.get();
  SimRoute route = request_.network->route(from.rank, to.rank, from.channel);
  if (route.links.empty()) {
    return no_route_between(from.rank, to.rank);
  }
  const auto slowest = static_cast<std::size_t>(route.slowest);
  joined = std::make_unique<SimConnection>(fmt::format("{}", lanes_.size()), kSlots,
                                           request_.costs.step[slowest] + route.beyond,
                                           request_.costs.share[slowest]);
  joined->first_sender = from.rank;
  joined->links = std::move(route.links);
  joined_.push_back({from.rank, to.rank, from.channel, joined.get()});
  lanes_.push_back(joined.get());
  return joined.get();
}

Result<SimGroup*> Wiring::group(const SwitchGroup& members, int channel) {
  SimGroup*& joined = group_of_[{channel, members.id}];
  if (joined != nullptr) return joined;
  SimRoute route = request_.network->group_route(members, channel);
  if (route.links.empty()) {
    return no_route_through_switch(members.senders.front());
  }
  const bool is_network = members.medium == SwitchGroup::Medium::Network;
  const SimCosts& costs = request_.costs;
  auto made = std::make_unique<SimGroup>(fmt::format("{}", lanes_.size()), kSlots,
                                         is_network ? costs.network_reduction : costs.nvswitch,
                                         is_network ? 1 : costs.nvswitch_efficiency, members);
  made->first_sender = members.senders.front();
  made->links = route.links;
  simgrid::s4u::Host* const host = platform_.add_host();
  platform_.add_route(host, host, std::move(route.links));
  lanes_.push_back(made.get());
  joined = made.get();
  groups_.push_back({std::move(made), host});
  return joined;
}

}  // namespace ringside

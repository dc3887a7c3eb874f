#include "ringside/collectives.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.h"
#include "engine/collectives/plan.h"
#include "engine/collectives/prove.h"

namespace ringside {
namespace {

/// Large enough for short lists, small enough that the default count is cut into several chunks.
constexpr Bytes kSlot = 64_KiB;
/// A proof's sets of ranks grow with the square of the ranks, and its steps at least with the ranks.
constexpr int kMostRanks = 4096;

/// The objects that a plan points to.
struct Asked {
  Choice choice;
  Channels channels;
  CallShape call;
};

Result<Asked> asked_by(const CollectiveRequest& request) {
  if (request.ranks < 1 || request.ranks > kMostRanks || request.ranks_per_node < 0) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} ranks, {} on a node", request.ranks, request.ranks_per_node),
                 fmt::format("give 1 to {} ranks, and 0 or more on a node", kMostRanks)};
  }
  RINGSIDE_TRY(const Choice choice, make_choice({.collective = request.collective,
                                                 .algorithm = request.algorithm,
                                                 .protocol = request.protocol,
                                                 .nchannels = request.channels,
                                                 .slot = kSlot}));
  return Asked{choice,
               host_channels(request.ranks, request.channels, request.ranks_per_node),
               {.count = request.count, .root = Rank{request.root}}};
}

void add_ranks(std::vector<int>& ranks, Ports ports, const std::vector<Peer>& peers,
               std::vector<Rank> SwitchGroup::*members) {
  for_each_port(ports, [&](int number) {
    const Peer& peer = peers[static_cast<std::size_t>(number)];
    if (peer.group == nullptr) return ranks.push_back(to_int(peer.rank));
    for (const Rank rank : (*peer.group).*members) ranks.push_back(to_int(rank));
  });
}

void add_steps(std::vector<CollectiveStep>& steps, const ChannelTask& task, int channel) {
  const Program program = record(task);
  for (std::int64_t loop = 0; loop < task.loops(); ++loop) {
    for (const StepRun& run : program.steps) {
      if (run.turn != task.turn_of(loop)) continue;
      for_each_step(program, run, [&](const Step& step) {
        CollectiveStep& added = steps.emplace_back();
        added.channel = channel;
        added.loop = loop;
        added.primitive = step.primitive;
        added.chunk = step.chunk;
        const PrimitiveParts parts = parts_of(step.primitive);
        if (parts.receives)
          add_ranks(added.from, step.from, task.recv_peers, &SwitchGroup::senders);
        if (parts.sends) add_ranks(added.to, step.to, task.send_peers, &SwitchGroup::receivers);
      });
    }
  }
}

}  // namespace

Result<std::vector<CollectiveStep>> list_steps(const CollectiveRequest& request, int rank) {
  RINGSIDE_TRY(const Asked asked, asked_by(request));
  RINGSIDE_TRY(const std::vector<ChannelTask> tasks,
               plan_channels(asked.choice, asked.channels, asked.call, Rank{rank}));
  std::vector<CollectiveStep> steps;
  for (std::size_t channel = 0; channel < tasks.size(); ++channel) {
    add_steps(steps, tasks[channel], static_cast<int>(channel));
  }
  return steps;
}

Result<CollectiveProof> prove_collective(const CollectiveRequest& request) {
  RINGSIDE_TRY(const Asked asked, asked_by(request));
  RINGSIDE_TRY(const TaskPlanner planner,
               TaskPlanner::make(asked.choice, asked.channels, asked.call));
  CollectiveProof proof;
  for (int channel = 0; channel < request.channels; ++channel) {
    std::vector<ChannelTask> tasks;
    for (int rank = 0; rank < request.ranks; ++rank) {
      RINGSIDE_TRY(ChannelTask task, planner.task(Rank{rank}, channel));
      tasks.push_back(std::move(task));
    }
    RINGSIDE_TRY(const ProofSummary summary, prove(tasks));
    proof.steps += summary.steps;
    proof.rounds = std::max(proof.rounds, summary.rounds);
    for (const EdgeTraffic& edge : summary.edges) {
      const int from = to_int(edge.from), to = to_int(edge.to);
      const auto known = std::ranges::find_if(
          proof.traffic, [&](const RankTraffic& one) { return one.from == from && one.to == to; });
      if (known == proof.traffic.end()) {
        proof.traffic.push_back({from, to, edge.elements});
      } else {
        known->elements += edge.elements;
      }
    }
  }
  return proof;
}

}  // namespace ringside

#include "study/explain/connection_sends.h"

#include <map>

#include "engine/collectives/record.h"
#include "sim/slices.h"

namespace ringside::study {

Result<std::vector<SentOn>> sends_of(const Choice& choice, const Channels& channels,
                                     const CallShape& call, Rank from) {
  RINGSIDE_TRY(const TaskPlanner planner, TaskPlanner::make(choice, channels, call));
  RINGSIDE_TRY(const std::vector<ChannelTask> tasks, planner.tasks(from));
  const Bytes element = size_of(call.type);
  const Slices slices(choice, element);
  std::vector<SentOn> sends;
  for (std::size_t channel = 0; channel < tasks.size(); ++channel) {
    const ChannelTask& task = tasks[channel];
    const Program program = record(task);
    std::map<int, SentOn> by_rank;
    const auto send = [&](const Peer& peer, std::int64_t count) {
      if (peer.rank == kNoRank || count == 0) return;
      SentOn& sent = by_rank[to_int(peer.rank)];
      sent.to = to_int(peer.rank);
      sent.channel = static_cast<int>(channel);
      sent.bytes.value += element.value * static_cast<std::uint64_t>(count);
      sent.messages += slices.of(count);
    };
    for (std::int64_t loop = 0; loop < program.loops; ++loop) {
      for (const StepRun& run : program.steps) {
        if (run.turn != task.turn_of(loop)) continue;
        for_each_step(program, run, [&](const ringside::Step& step) {
          const std::int64_t count = task.map.at(loop, step.chunk).count;
          for_each_port(step.to, [&](int port) {
            send(task.send_peers[static_cast<std::size_t>(port)], count);
          });
        });
      }
    }
    for (const auto& [rank, sent] : by_rank) sends.push_back(sent);
  }
  return sends;
}

}  // namespace ringside::study

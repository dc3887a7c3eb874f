#include "engine/collectives/device_task.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "engine/collectives/flatten.h"
#include "engine/collectives/plan.h"
#include "engine/collectives/record.h"
#include "tests/collectives/device_model.h"

namespace ringside {
namespace {

struct DeviceCall {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  int nranks = 1;
  int ranks_per_node = 0;
};

/// Returns a shape with enough data for three loops and a partial one; sends and receives are between neighbours.
CallShape shape_for(const DeviceCall& call, int rank) {
  const int n = call.nranks;
  CallShape shape{.count = 128 * n * 3 + 77, .root = Rank{n / 2}};
  for (int i = 0; i < n && call.collective == Collective::AllGatherV; ++i) {
    shape.counts.push_back(i % 4 * 300);
  }
  const bool is_pair = call.collective == Collective::Send || call.collective == Collective::Recv;
  if (is_pair && n > 1 && rank == 0) shape.sends = {{Rank{1}, 40, 700}};
  if (is_pair && rank == 1) shape.recvs = {{Rank{0}, 60, 700}};
  return shape;
}

/// Returns one task for each channel; empty if none is planned.
std::vector<ChannelTask> plan(const DeviceCall& call, int rank) {
  const Choice choice{.collective = call.collective,
                      .algorithm = call.algorithm,
                      .nchannels = 2,
                      .slot = 512_B,
                      .chunk = 512_B};
  auto tasks = plan_channels(choice, host_channels(call.nranks, 2, call.ranks_per_node),
                             shape_for(call, rank), Rank{rank});
  return tasks ? *std::move(tasks) : std::vector<ChannelTask>{};
}

/// Returns what record() reports of the task, in the order of one thread.
std::vector<DeviceStep> recorded(const ChannelTask& task) {
  const Program program = record(task);
  std::vector<DeviceStep> steps;
  for (std::int64_t time = 0; time < program.loops + program.strands.last_lag(); ++time) {
    for (int strand = 0; strand < program.strands.count; ++strand) {
      const std::int64_t loop = time - program.strands.lag[strand];
      if (loop < 0 || loop >= program.loops) continue;
      for_each_step(program, task.map.turn_of(loop), strand, [&](const Step& step) {
        steps.push_back(
            {loop, step.chunk, step.primitive, step.from, step.to, task.map.at(loop, step.chunk)});
      });
    }
  }
  return steps;
}

/// Copies a task to other memory, as a copy to a GPU does: no pointer may lead back.
struct Elsewhere {
  DeviceTask task;
  std::unique_ptr<std::int64_t[]> memory;

  Elsewhere(const DeviceTask& made, const std::vector<std::byte>& tables)
      : task(), memory(std::make_unique<std::int64_t[]>(tables.size() / 8 + 1)) {
    std::memcpy(static_cast<void*>(&task), &made, sizeof task);
    if (!tables.empty()) std::memcpy(memory.get(), tables.data(), tables.size());
  }
  [[nodiscard]] DeviceTaskView view() const {
    return {&task, reinterpret_cast<const std::byte*>(memory.get())};
  }
};

void expect_same_peer(const Peer& peer, const DevicePeer& flat, const DeviceTaskView& view) {
  EXPECT_EQ(flat.is_used(), peer.is_used());
  EXPECT_EQ(flat.rank, peer.rank);
  EXPECT_EQ(flat.index, peer.index);
  ASSERT_EQ(flat.group >= 0, peer.group != nullptr);
  if (peer.group == nullptr) return;
  const DeviceGroup& group = view.group(flat);
  EXPECT_EQ(group.id, peer.group->id);
  EXPECT_EQ(group.is_network, peer.group->medium == SwitchGroup::Medium::Network);
  const auto ranks = [&](const TableOf<Rank>& table) {
    const Rank* first = table.in(view.tables);
    return std::vector<Rank>(first, first + table.count);
  };
  EXPECT_EQ(ranks(group.senders), peer.group->senders);
  EXPECT_EQ(ranks(group.receivers), peer.group->receivers);
}

void expect_same(const ChannelTask& task, const DeviceTaskView& view) {
  const std::vector<DeviceStep> expected = recorded(task);
  std::vector<DeviceStep> taken(expected.size());
  DeviceModel model(view, taken.data(), static_cast<std::int64_t>(taken.size()));
  run_channel(model, view);
  ASSERT_EQ(model.count(), static_cast<std::int64_t>(expected.size()));
  EXPECT_TRUE(taken == expected);
  ASSERT_EQ(view.task->recv_peers.count, static_cast<int>(task.recv_peers.size()));
  ASSERT_EQ(view.task->send_peers.count, static_cast<int>(task.send_peers.size()));
  for (std::size_t i = 0; i < task.recv_peers.size(); ++i) {
    expect_same_peer(task.recv_peers[i], view.recv_peer(static_cast<int>(i)), view);
  }
  for (std::size_t i = 0; i < task.send_peers.size(); ++i) {
    expect_same_peer(task.send_peers[i], view.send_peer(static_cast<int>(i)), view);
  }
}

/// Puts every rank's tasks into one block of tables.
///
/// returns  the number of steps
std::int64_t expect_same(const DeviceCall& call) {
  SCOPED_TRACE(fmt::format("{} by {}, {} ranks, {} a node", to_string(call.collective),
                           to_string(call.algorithm), call.nranks, call.ranks_per_node));
  std::vector<ChannelTask> tasks;
  std::vector<DeviceTask> flat;
  std::vector<std::byte> tables;
  std::int64_t steps = 0;
  for (int rank = 0; rank < call.nranks; ++rank) {
    for (ChannelTask& task : plan(call, rank)) tasks.push_back(std::move(task));
  }
  for (const ChannelTask& task : tasks) flat.push_back(flatten(task, tables));
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Elsewhere there(flat[i], tables);
    expect_same(tasks[i], there.view());
    steps += count_steps(record(tasks[i]));
  }
  return steps;
}

class EveryAlgorithm : public testing::TestWithParam<Algorithm> {};

TEST_P(EveryAlgorithm, TakesTheRecordedStepsFromAFlatTask) {
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (!has_algorithm(collective, GetParam())) continue;
    std::int64_t steps = 0;
    for (const int n : {1, 2, 3, 4, 6, 8, 12, 16, 33}) {
      for (const int ranks_per_node : {0, 1, 2, 4}) {
        steps += expect_same({.collective = collective,
                              .algorithm = GetParam(),
                              .nranks = n,
                              .ranks_per_node = ranks_per_node});
      }
    }
    EXPECT_GT(steps, 300) << to_string(collective);
  }
}

INSTANTIATE_TEST_SUITE_P(DeviceTask, EveryAlgorithm, testing::ValuesIn([] {
                           std::vector<Algorithm> all;
                           for (const AlgorithmFacts& facts : kAlgorithmFacts) {
                             all.push_back(facts.algorithm);
                           }
                           return all;
                         }()),
                         [](const auto& one) { return to_string(one.param); });

// Each thread of a kernel executes one strand: together their steps are those of one thread.
TEST(DeviceTask, StrandsAloneTakeTheStepsOfAll) {
  const DeviceCall call{.algorithm = Algorithm::Nvls, .nranks = 8};
  const ChannelTask task = plan(call, 3).front();
  std::vector<std::byte> tables;
  const DeviceTask flat = flatten(task, tables);
  const DeviceTaskView view{&flat, tables.data()};
  std::int64_t steps = 0;
  for (int strand = 0; strand < task.strands.count; ++strand) {
    DeviceModel model(view, nullptr, 0);
    run_strand_alone(model, view, strand);
    steps += model.count();
  }
  EXPECT_EQ(steps, count_steps(record(task)));
}

}  // namespace
}  // namespace ringside

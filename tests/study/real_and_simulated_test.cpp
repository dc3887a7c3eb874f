// The same job on real ranks and simulated: the same calls in the same order, each made of the same primitives on the same
// channels. Only the times are others.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/hangs/calls.h"
#include "harness/hangs/player.h"
#include "harness/job.h"
#include "harness/program_run.h"
#include "harness/scenario/scenario.h"
#include "study/simulation.h"
#include "trace/reader.h"

namespace ringside::study {
namespace {

constexpr int kRanks = 8;
constexpr const char* kScenario = R"(ringside: scenario/1
name: eight
ranks: 8
iterations: 2
steps:
- all_reduce: {on: world, count: 8192}
- reduce_scatter: {on: world, count: 1024}
- broadcast: {on: world, root: 0, count: 4096}
- all_gather: {on: world, count: 1024}
- reduce: {on: world, root: 0, count: 4096}
- synchronize
)";

/// [rank][call] of a trace: the call, and its primitives by channel, in words without times.
using CallWordsOfRank = std::vector<std::string>;
using JobWords = std::vector<CallWordsOfRank>;

std::string words_of(const TraceEvent& event) {
  return fmt::format("{} {} B at {} from {} to {}; ", to_string(event.primitive), event.bytes,
                     event.offset, event.recv_peer, event.send_peer);
}

/// One call on one rank: `all_reduce ring simple | channel 0: send 512 B ...`
std::string call_text(std::vector<TraceEvent> events) {
  std::ranges::stable_sort(
      events, {}, [](const TraceEvent& event) { return std::pair(event.channel, event.step); });
  std::string text =
      fmt::format("{} {} {}", to_string(events.front().collective),
                  to_string(events.front().algorithm), to_string(events.front().protocol));
  int channel = -1;
  for (const TraceEvent& event : events) {
    if (event.kind != EventKind::Primitive) continue;
    if (event.channel != channel) text += fmt::format(" | channel {}: ", channel = event.channel);
    text += words_of(event);
  }
  return text;
}

/// Calls by rank, in the order in which they began.
JobWords words_of(const TraceFile& file) {
  std::map<std::pair<int, std::uint32_t>, std::vector<TraceEvent>> calls;
  file.for_each_event([&](const TraceEvent& event) {
    calls[{event.rank, event.sequence}].push_back(event);
  });
  std::map<std::pair<int, std::int64_t>, std::string> in_time;
  for (auto& [key, events] : calls) {
    const auto begin = std::ranges::min(events, {}, &TraceEvent::begin_ns).begin_ns;
    in_time[{key.first, begin}] = call_text(std::move(events));
  }
  JobWords words(kRanks);
  for (const auto& [key, text] : in_time)
    words[static_cast<std::size_t>(key.first)].push_back(text);
  return words;
}

/// How every call is made.
struct Way {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
};

JobWords on_real_ranks(const hangs::Program& program, const Way& way) {
  const std::string path =
      testing::TempDir() + "real_and_simulated_" + std::to_string(::getpid()) + ".rtrace";
  JobWords words(kRanks);
  ringside::JobOptions options;
  options.local_ranks = kRanks;
  options.trace_path = path;
  options.communicator.wishes = {
      .algorithm = way.algorithm, .protocol = way.protocol, .nchannels = 1};
  const auto status = ringside::run_job(
      options, [&](JobRank& rank) { return run_program(rank, program, 1 << 20); });
  EXPECT_TRUE(status) << status.error().message;
  const auto file = TraceFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  if (file) words = words_of(*file);
  std::filesystem::remove(path);
  return words;
}

/// What a call does on each rank, simulated on one host of eight GPUs.
std::vector<std::string> simulated(const hangs::Step& step, const Way& way) {
  SimQuestion question;
  // A tree of real ranks has each of them as a node; within a host NCCL's is a chain.
  const bool is_tree = way.algorithm == Algorithm::Tree;
  question.job.on = is_tree ? "one-gpu-one-nic" : "dgx-h100";
  question.job.nodes = is_tree ? kRanks : 1;
  question.calls.collective = to_string(hangs::collective_of(step.op));
  const bool is_whole = step.op == hangs::Op::AllGather || step.op == hangs::Op::ReduceScatter;
  question.calls.sizes = std::to_string(step.count * 4 * (is_whole ? kRanks : 1));
  question.algorithm = to_string(way.algorithm);
  question.protocol = to_string(way.protocol);
  question.channels = 1;
  question.fidelity = "event";
  const auto plan = plan_simulation(question);
  EXPECT_TRUE(plan) << plan.error().message;
  auto call = tune_call(*plan, Bytes{plan->calls.sizes.front()});
  EXPECT_TRUE(call) << call.error().message;
  TraceMemorySink sink;
  const auto row = simulate_call(*plan, *call, {.trace = &sink});
  EXPECT_TRUE(row) << row.error().message;
  const std::vector<std::byte> bytes = sink.bytes();
  const auto file = TraceFile::parse(bytes, "simulated");
  EXPECT_TRUE(file) << file.error().message;
  std::vector<std::string> words;
  for (const CallWordsOfRank& own : words_of(*file)) {
    EXPECT_EQ(own.size(), 1U);
    words.push_back(own.empty() ? "nothing" : own.front());
  }
  return words;
}

/// The calls as the player plays them, each as it is simulated.
JobWords in_simulated_time(const hangs::Program& program, const Way& way) {
  const hangs::Play play = hangs::play(program, {}, 1, {.call = {}, .is_even = true});
  EXPECT_FALSE(play.is_hung());
  std::map<int, std::vector<std::string>> known;  // by line of the program
  JobWords words(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<hangs::Record> records = play.ranks[static_cast<std::size_t>(rank)].records;
    std::ranges::stable_sort(records, {}, &hangs::Record::started);
    for (const hangs::Record& record : records) {
      const auto [place, is_new] = known.try_emplace(record.step->site);
      if (is_new) place->second = simulated(*record.step, way);
      words[static_cast<std::size_t>(rank)].push_back(
          place->second[static_cast<std::size_t>(rank)]);
    }
  }
  return words;
}

TEST(RealAndSimulated, TheSameTraceButForTimes) {
  const auto scenario = parse_scenario(kScenario, "eight.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const hangs::Program program = hangs::make_program(scenario->outline);
  const JobWords real = on_real_ranks(program, {});
  const JobWords simulated = in_simulated_time(program, {});
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(real[rank].size(), 10U) << rank;
    for (std::size_t call = 0; call < real[rank].size(); ++call) {
      EXPECT_EQ(real[rank][call], simulated[rank][call]) << "rank " << rank << ", call " << call;
    }
  }
}

// Reductions alone, which have trees, and lines of flags. (Chunks of a tree's lines are as large as the network between its
// nodes wants them: not the same for processes of one host.)
TEST(RealAndSimulated, InOtherWaysToo) {
  const auto scenario = parse_scenario(
      "ringside: scenario/1\nname: eight\nranks: 8\niterations: 2\nsteps:\n"
      "- all_reduce: {on: world, count: 8192}\n- all_reduce: {on: world, count: 1000}\n"
      "- synchronize\n",
      "eight.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const hangs::Program program = hangs::make_program(scenario->outline);
  for (const Way& way :
       {Way{Algorithm::Ring, Protocol::LL}, Way{Algorithm::Tree, Protocol::Simple}}) {
    const JobWords real = on_real_ranks(program, way);
    const JobWords simulated = in_simulated_time(program, way);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(real[rank].size(), 4U) << rank;
      for (std::size_t call = 0; call < real[rank].size(); ++call) {
        EXPECT_EQ(real[rank][call], simulated[rank][call])
            << to_string(way.algorithm) << " " << to_string(way.protocol) << ", rank " << rank;
      }
    }
  }
}

}  // namespace
}  // namespace ringside::study

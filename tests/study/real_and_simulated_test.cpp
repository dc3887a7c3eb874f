// Compares the same job on real ranks and simulated: the same calls in the same order, each with the same primitives
// on the same channels. Only the times differ.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <tuple>

#include "harness/hangs/calls.h"
#include "harness/hangs/player.h"
#include "harness/job.h"
#include "harness/program_run.h"
#include "harness/scenario/scenario.h"
#include "ringside/trace_reader.h"
#include "study/simulation.h"

namespace ringside::study {
namespace {

constexpr int kRanks = 8;

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
    if (event.kind == EventKind::Collective) continue;
    if (event.channel != channel) text += fmt::format(" | channel {}: ", channel = event.channel);
    text += words_of(event);
  }
  return text;
}

/// Returns the calls by rank of the job, in the order in which they began, each with the members of its group.
///
/// rank_of  returns the rank of an event
template <typename RankOf>
JobWords words_of(const TraceFile& file, const RankOf& rank_of) {
  std::map<std::tuple<int, std::uint32_t, std::uint32_t>, std::vector<TraceEvent>> calls;
  file.for_each_event([&](const TraceEvent& event) {
    calls[{rank_of(event), event.communicator, event.sequence}].push_back(event);
  });
  std::map<std::pair<int, std::int64_t>, std::string> in_time;
  for (auto& [key, events] : calls) {
    const auto begin = std::ranges::min(events, {}, &TraceEvent::begin_ns).begin_ns;
    in_time[{std::get<0>(key), begin}] = call_text(std::move(events));
  }
  JobWords words(kRanks);
  for (const auto& [key, text] : in_time)
    words[static_cast<std::size_t>(key.first)].push_back(text);
  return words;
}

/// The way in which every call is made.
struct Way {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int channels = 1;
};

/// Returns the global rank: traces have the rank in the communicator, whose number gives its family and its first
/// rank.
int job_rank(const hangs::Program& program, const TraceEvent& event) {
  if (event.communicator == 0) return event.rank;
  const auto number = static_cast<std::size_t>(event.communicator - 1);
  const int group = program.group_of[number % kRanks][1 + number / kRanks];
  return program.groups[static_cast<std::size_t>(group)]
      .ranks[static_cast<std::size_t>(event.rank)];
}

JobWords on_real_ranks(const hangs::Program& program, const Way& way) {
  const std::string path =
      testing::TempDir() + "real_and_simulated_" + std::to_string(::getpid()) + ".rtrace";
  JobWords words(kRanks);
  ringside::JobOptions options;
  options.local_ranks = kRanks;
  options.trace_path = path;
  options.communicator.settings = {
      .algorithm = way.algorithm, .protocol = way.protocol, .nchannels = way.channels};
  const auto status = ringside::run_job(
      options, [&](JobRank& rank) { return run_program(rank, program, 1 << 20); });
  EXPECT_TRUE(status) << status.error().message;
  const auto file = TraceFile::open(path);
  EXPECT_TRUE(file) << file.error().message;
  if (file) {
    words = words_of(*file, [&](const TraceEvent& event) { return job_rank(program, event); });
  }
  std::filesystem::remove(path);
  return words;
}

/// Returns the primitives of a call on each of its ranks, simulated on one host with as many GPUs.
std::vector<std::string> simulated(const hangs::Step& step, int ranks, const Way& way) {
  SimQuestion question;
  // A tree of real ranks has each of them as a node; within a host NCCL's is a chain.
  const bool is_tree = way.algorithm == Algorithm::Tree;
  question.job.on = is_tree ? "one-gpu-one-nic" : "dgx-h100";
  question.job.nodes = is_tree ? ranks : 1;
  if (!is_tree && ranks < kRanks) {
    question.job.hosts.gpus.resize(static_cast<std::size_t>(ranks));
    std::iota(question.job.hosts.gpus.begin(), question.job.hosts.gpus.end(), 0);
  }
  question.calls.collective = to_string(hangs::collective_of(step.op));
  const bool is_whole = step.op == hangs::Op::AllGather || step.op == hangs::Op::ReduceScatter;
  question.calls.sizes = std::to_string(step.count * 4 * (is_whole ? ranks : 1));
  if (step.op != hangs::Op::AllToAll) {
    question.algorithm = to_string(way.algorithm);
    question.protocol = to_string(way.protocol);
  }
  question.channels = way.channels;
  question.fidelity = "event";
  const auto plan = plan_simulation(question);
  EXPECT_TRUE(plan) << plan.error().message;
  if (!plan) return std::vector<std::string>(static_cast<std::size_t>(ranks), "nothing");
  auto call = tune_call(*plan, Bytes{plan->calls.sizes.front()});
  EXPECT_TRUE(call) << call.error().message;
  if (hangs::has_root(step.op)) call->shape.root = Rank{step.peer};
  TraceMemorySink sink;
  const auto row = simulate_call(*plan, *call, {.trace = &sink});
  EXPECT_TRUE(row) << row.error().message;
  const std::vector<std::byte> bytes = sink.bytes();
  const auto file = TraceFile::parse(bytes, "simulated");
  EXPECT_TRUE(file) << file.error().message;
  std::vector<std::string> words;
  for (const CallWordsOfRank& own :
       words_of(*file, [](const TraceEvent& event) { return event.rank; })) {
    words.push_back(own.size() == 1 ? own.front() : "nothing");
  }
  return words;
}

/// Returns the calls as the player plays them, each with its simulated primitives.
JobWords in_simulated_time(const hangs::Program& program, const Way& way) {
  const hangs::Play play = hangs::play(program, {}, 1, {.call = {}, .is_even = true});
  EXPECT_FALSE(play.is_hung());
  std::map<int, std::vector<std::string>> known;  // by line of the program, whose groups are alike
  JobWords words(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<hangs::Record> records = play.ranks[static_cast<std::size_t>(rank)].records;
    std::ranges::stable_sort(records, {}, &hangs::Record::started);
    for (const hangs::Record& record : records) {
      const hangs::Group& group = program.groups[static_cast<std::size_t>(record.step->group)];
      const auto [place, is_new] = known.try_emplace(record.step->site);
      if (is_new) {
        place->second = simulated(*record.step, static_cast<int>(group.ranks.size()), way);
      }
      words[static_cast<std::size_t>(rank)].push_back(
          place->second[static_cast<std::size_t>(hangs::group_rank(group, rank))]);
    }
  }
  return words;
}

hangs::Program program_of(const std::string& head, const std::string& steps) {
  const auto scenario = parse_scenario("ringside: scenario/1\nname: eight\n" + head +
                                           "\niterations: 2\nsteps:\n" + steps + "- synchronize\n",
                                       "eight.yaml");
  EXPECT_TRUE(scenario) << scenario.error().message;
  return hangs::make_program(scenario->outline);
}

/// For an exchange, only the steps are compared: simulated ranks send short messages with LL, as NCCL does, real ones
/// with the given protocol.
std::string compared_part(const std::string& call) {
  return call.starts_with("all_to_all ") ? call.substr(call.find(" | ")) : call;
}

/// calls  the number of calls that each rank makes
void expect_same(const hangs::Program& program, std::size_t calls, const Way& way) {
  SCOPED_TRACE(fmt::format("{} {}, {} channels", to_string(way.algorithm), to_string(way.protocol),
                           way.channels));
  const JobWords real = on_real_ranks(program, way);
  const JobWords simulated = in_simulated_time(program, way);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(real[rank].size(), calls) << rank;
    ASSERT_EQ(simulated[rank].size(), calls) << rank;
    for (std::size_t call = 0; call < calls; ++call) {
      EXPECT_EQ(compared_part(real[rank][call]), compared_part(simulated[rank][call]))
          << "rank " << rank << ", call " << call;
      EXPECT_NE(real[rank][call].find(" | channel 0: "), std::string::npos);
    }
  }
}

constexpr const char* kEveryCollective =
    "- all_reduce: {on: world, count: 8192}\n"
    "- reduce_scatter: {on: world, count: 1024}\n"
    "- broadcast: {on: world, root: 3, count: 4096}\n"
    "- all_gather: {on: world, count: 1024}\n"
    "- reduce: {on: world, root: 5, count: 4096}\n";

TEST(RealAndSimulated, TheSameTraceButForTimes) {
  expect_same(program_of("ranks: 8", kEveryCollective), 10, {});
}

// Sizes that fill channels unevenly, and some that leave chunks short.
TEST(RealAndSimulated, OnSeveralChannels) {
  const hangs::Program program =
      program_of("ranks: 8", std::string(kEveryCollective) +
                                 "- all_reduce: {on: world, count: 1000003}\n"
                                 "- all_gather: {on: world, count: 70001}\n");
  for (const int channels : {2, 3, 8})
    expect_same(program, 14, {Algorithm::Ring, Protocol::Simple, channels});
}

TEST(RealAndSimulated, InLinesOfFlags) {
  const hangs::Program program = program_of("ranks: 8", kEveryCollective);
  for (const Protocol protocol : {Protocol::LL, Protocol::LL128}) {
    for (const int channels : {1, 2})
      expect_same(program, 10, {Algorithm::Ring, protocol, channels});
  }
}

// Only reductions, which have trees. The chunks of a tree's lines are as large as the network between its nodes
// requires, which differs from processes of one host: the sizes fit one chunk of either.
TEST(RealAndSimulated, AsTrees) {
  const auto program = [](int first, int second) {
    return program_of("ranks: 8", fmt::format("- all_reduce: {{on: world, count: {}}}\n"
                                              "- all_reduce: {{on: world, count: {}}}\n",
                                              first, second));
  };
  for (const int channels : {1, 2}) {
    expect_same(program(8192, 1000), 4, {Algorithm::Tree, Protocol::Simple, channels});
    for (const Protocol protocol : {Protocol::LL, Protocol::LL128})
      expect_same(program(64, 1000), 4, {Algorithm::Tree, protocol, channels});
  }
}

TEST(RealAndSimulated, OverASwitchThatReduces) {
  const hangs::Program program = program_of("ranks: 8",
                                            "- all_reduce: {on: world, count: 8192}\n"
                                            "- reduce_scatter: {on: world, count: 4096}\n"
                                            "- all_gather: {on: world, count: 4096}\n");
  for (const int channels : {1, 4})
    expect_same(program, 6, {Algorithm::Nvls, Protocol::Simple, channels});
}

TEST(RealAndSimulated, AllToAll) {
  const hangs::Program program = program_of("ranks: 8", "- all_to_all: {on: world, count: 4096}\n");
  for (const int channels : {1, 2})
    expect_same(program, 2, {Algorithm::Ring, Protocol::Simple, channels});
}

// A whole job: calls of three families of groups and of all ranks, each in its order on each rank.
TEST(RealAndSimulated, AJobOfSeveralGroups) {
  const hangs::Program program = program_of("parallel: {tensor: 4, data: 2}",
                                            "- all_gather: {on: tensor, count: 2048}\n"
                                            "- reduce_scatter: {on: tensor, count: 2048}\n"
                                            "- all_reduce: {on: data, count: 30000}\n"
                                            "- broadcast: {on: tensor, root: 1, count: 500}\n"
                                            "- all_to_all: {on: tensor, count: 4096}\n"
                                            "- all_reduce: {on: world, count: 1}\n");
  for (const int channels : {1, 2})
    expect_same(program, 12, {Algorithm::Ring, Protocol::Simple, channels});
}

}  // namespace
}  // namespace ringside::study

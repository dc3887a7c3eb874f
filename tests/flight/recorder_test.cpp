#include "engine/flight/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "base/fd.h"
#include "trace/clock.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
constexpr Nanoseconds kPlenty = std::chrono::seconds(20);

FlightSettings settings_with(std::size_t capacity) {
  FlightSettings settings;
  settings.capacity = capacity;
  return settings;
}

FlightFacts all_reduce(std::int64_t count) {
  return {Collective::AllReduce, DataType::Float32, count, count};
}

FlightRecorder::Group& join(FlightRecorder& recorder, const std::string& name = "0",
                            FlightRecorder::AskOthers ask_others = {}) {
  return recorder.join({name, "default_pg", {4, 5}, 1, std::chrono::seconds(30)}, {},
                       std::move(ask_others));
}

TEST(FlightRecorder, ACallGoesFromScheduledToCompletedAndOneThatFailsIsRetiredAlone) {
  FlightRecorder recorder(settings_with(8), 5);
  FlightRecorder::Group& group = join(recorder);
  const auto first = recorder.begin(group, all_reduce(10), Nanoseconds{100});
  recorder.start(first, Nanoseconds{150});
  EXPECT_STREQ(recorder.snapshot().entries[0].state, "scheduled");
  recorder.end(first, true, Nanoseconds{300});
  const auto second = recorder.begin(group, all_reduce(20), Nanoseconds{400});
  recorder.end(second, false, Nanoseconds{500});
  const FlightDump dump = recorder.snapshot("why");
  ASSERT_EQ(dump.entries.size(), 2U);
  EXPECT_STREQ(dump.entries[0].state, "completed");
  EXPECT_TRUE(dump.entries[0].is_retired);
  // Without timing, the dump notices the end.
  EXPECT_GT(*dump.entries[0].completed_ns, dump.entries[0].created_ns);
  EXPECT_FALSE(dump.entries[1].completed_ns);
  EXPECT_STREQ(dump.entries[1].state, "scheduled");
  EXPECT_TRUE(dump.entries[1].is_retired);
  EXPECT_EQ(dump.entries[1].collective_seq, 2);
  EXPECT_EQ(dump.entries[1].call->profiling_name, "nccl:all_reduce");
  EXPECT_EQ(dump.entries[1].call->input, std::vector<std::int64_t>{20});
  ASSERT_EQ(dump.status.size(), 1U);
  EXPECT_EQ(dump.status[0].enqueued, 2);
  EXPECT_EQ(dump.status[0].started, -1);
  EXPECT_EQ(dump.status[0].completed, 1);
  EXPECT_EQ(dump.groups[0].ranks, (std::vector<int>{4, 5}));
  EXPECT_EQ(dump.timeout_ms, 30'000);
  EXPECT_EQ(dump.reason, "why");
}

TEST(FlightRecorder, AMessageThatEndsByItselfLeavesTheOtherCallsAsTheyAre) {
  const CallSite site{{{"step", "train.py", 12}}};
  FlightRecorder recorder(settings_with(8), 5);
  FlightRecorder::Group& group = join(recorder);
  const FlightFacts send{Collective::Send, DataType::Float32, 10, 10, -1, 0, &site};
  const auto pending = recorder.begin_unordered(group, send, Nanoseconds{100});
  const auto call = recorder.begin(group, all_reduce(20), Nanoseconds{200});
  const auto failed = recorder.begin_unordered(group, send, Nanoseconds{300});
  const auto done = recorder.begin_unordered(group, send, Nanoseconds{400});
  recorder.end(done, true, Nanoseconds{500});
  recorder.end(failed, false, Nanoseconds{600});
  recorder.end(call, true, Nanoseconds{700});
  const FlightDump dump = recorder.snapshot();
  ASSERT_EQ(dump.entries.size(), 4U);
  EXPECT_STREQ(dump.entries[0].state, "scheduled");
  EXPECT_FALSE(dump.entries[0].is_retired);
  EXPECT_STREQ(dump.entries[1].state, "completed");
  EXPECT_STREQ(dump.entries[2].state, "scheduled");
  EXPECT_TRUE(dump.entries[2].is_retired);
  EXPECT_STREQ(dump.entries[3].state, "completed");
  EXPECT_EQ(dump.entries[0].call->profiling_name, "nccl:send 1->0");
  ASSERT_EQ(dump.entries[0].call->frames.size(), 1U);
  EXPECT_EQ(dump.entries[0].call->frames[0].filename, "train.py");
  recorder.end(pending, true, Nanoseconds{800});
  EXPECT_STREQ(recorder.snapshot().entries[0].state, "completed");
}

TEST(FlightRecorder, AMessageThatWasNotReceivedIsPendingAgain) {
  FlightRecorder recorder(settings_with(8), 5);
  FlightRecorder::Group& group = join(recorder);
  const FlightFacts send{Collective::Send, DataType::Float32, 10, 10, -1, 0};
  const auto first = recorder.begin_unordered(group, send, Nanoseconds{100});
  const auto last = recorder.begin_unordered(group, send, Nanoseconds{200});
  recorder.end(first, true, Nanoseconds{300});
  recorder.end(last, true, Nanoseconds{400});
  recorder.reopen(last, "rank 0 left without it");
  const FlightDump dump = recorder.snapshot();
  EXPECT_EQ(dump.reason, "rank 0 left without it");
  ASSERT_EQ(dump.entries.size(), 2U);
  EXPECT_STREQ(dump.entries[0].state, "completed");
  EXPECT_STREQ(dump.entries[1].state, "scheduled");
  EXPECT_FALSE(dump.entries[1].is_retired);
  const auto send_index = static_cast<std::size_t>(Collective::Send);
  EXPECT_EQ(recorder.groups()[0].launched[send_index], 2);
  EXPECT_EQ(recorder.groups()[0].completed[send_index], 1);
}

TEST(FlightRecorder, StartsAreKnownWithTimingAlone) {
  FlightSettings settings = settings_with(8);
  settings.has_timing = true;
  FlightRecorder recorder(settings, 0);
  FlightRecorder::Group& group = join(recorder);
  const auto ticket = recorder.begin(group, all_reduce(1), Nanoseconds{100});
  recorder.start(ticket, Nanoseconds{2'000'100});
  EXPECT_STREQ(recorder.snapshot().entries[0].state, "started");
  recorder.end(ticket, true, Nanoseconds{5'000'100});
  const FlightDump dump = recorder.snapshot();
  EXPECT_DOUBLE_EQ(*dump.entries[0].duration_ms, 3.0);
  EXPECT_EQ(*dump.entries[0].started_ns - dump.entries[0].created_ns, 2'000'000);
  EXPECT_EQ(*dump.entries[0].completed_ns - dump.entries[0].created_ns, 5'000'000);
  EXPECT_EQ(dump.status[0].started, 1);
}

// A program that continues after an error is asked why it stopped, not about the present state of its broken
// communicators.
TEST(FlightRecorder, AfterAFailureASnapshotIsOfThatMomentUntilAnotherCallBegins) {
  FlightRecorder recorder(settings_with(8), 0);
  FlightRecorder::Group& group = join(recorder);
  const auto ticket = recorder.begin(group, all_reduce(1), Nanoseconds{100});
  recorder.failed("rank 3 is gone", &group);
  recorder.end(ticket, false, Nanoseconds{200});
  {
    const FlightDump dump = recorder.snapshot();
    EXPECT_EQ(dump.reason, "rank 3 is gone");
    ASSERT_EQ(dump.entries.size(), 1U);
    EXPECT_FALSE(dump.entries[0].is_retired);
    EXPECT_EQ(dump.entries[0].call, &dump.calls[0]);
  }
  recorder.begin(group, all_reduce(2), Nanoseconds{300});
  const FlightDump dump = recorder.snapshot();
  EXPECT_EQ(dump.reason, "");
  EXPECT_EQ(dump.entries.size(), 2U);
}

// 10 calls in a ring of 4: the last four remain, and the status counts all.
TEST(FlightRecorder, KeepsTheLastEntriesAndCountsOn) {
  FlightRecorder recorder(settings_with(4), 0);
  FlightRecorder::Group& group = join(recorder);
  std::vector<FlightRecorder::Ticket> tickets;
  for (int i = 0; i < 10; ++i) {
    tickets.push_back(recorder.begin(group, all_reduce(i), Nanoseconds{i}));
  }
  // Ending the call that has been overwritten changes nothing.
  recorder.end(tickets[2], true, Nanoseconds{50});
  const FlightDump dump = recorder.snapshot();
  ASSERT_EQ(dump.entries.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(dump.entries[i].record_id, static_cast<std::int64_t>(6 + i));
    EXPECT_STREQ(dump.entries[i].state, "scheduled");
  }
  EXPECT_EQ(dump.status[0].enqueued, 10);
}

TEST(FlightRecorder, MessagesCountOnTheirOwnAndSeveralEndInOneEntry) {
  FlightRecorder recorder(settings_with(16), 0);
  FlightRecorder::Group& group = join(recorder);
  recorder.begin(group, all_reduce(1), Nanoseconds{1});
  FlightFacts send{Collective::Send, DataType::Float32, 8, 8, -1, 0};
  FlightFacts recv = send;
  recv.collective = Collective::Recv;
  recorder.begin(group, {send, recv}, Nanoseconds{2});
  recorder.begin(group, std::vector{send}, Nanoseconds{3});
  const FlightDump dump = recorder.snapshot();
  ASSERT_EQ(dump.entries.size(), 5U);
  EXPECT_EQ(dump.entries[1].call->profiling_name, "nccl:send 1->0");
  EXPECT_EQ(dump.entries[2].call->profiling_name, "nccl:recv 1<-0");
  EXPECT_EQ(dump.entries[3].call->profiling_name, "nccl:coalesced");
  EXPECT_EQ(dump.entries[4].call->profiling_name, "nccl:send 1->0");
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_TRUE(dump.entries[i].is_p2p);
    EXPECT_EQ(dump.entries[i].collective_seq, 1);
    EXPECT_EQ(dump.entries[i].p2p_seq, i < 4 ? 1 : 2);
    EXPECT_EQ(dump.entries[i].op_id, static_cast<std::int64_t>(i) + 1);
  }
}

TEST(FlightRecorder, ProgressNamesRanksOfTheJob) {
  FlightRecorder recorder(settings_with(4), 0);
  recorder.join({"0", "", {4, 5}, 0, {}},
                [](std::vector<FlightDump::Progress>& progress) {
                  progress.push_back({.channel = 2, .peer = 1, .is_send = true, .bytes = 64});
                },
                {});
  const FlightDump dump = recorder.snapshot();
  ASSERT_EQ(dump.progress.size(), 1U);
  EXPECT_EQ(dump.progress[0].peer, 5);
  std::string text;
  append_json(dump, text);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["ringside"]["progress"][0]["peer"], 5);
  EXPECT_EQ(json["ringside"]["progress"][0]["bytes"], 64);
}

// Several threads record while another one reads: the entries that it reads are complete. Meant for the thread
// sanitizer.
TEST(FlightRecorder, ADumpOfARingThatTurnsHoldsNoHalfEntry) {
  FlightSettings settings = settings_with(16);
  settings.has_timing = true;
  FlightRecorder recorder(settings, 0);
  std::vector<FlightRecorder::Group*> groups{&join(recorder, "a"), &join(recorder, "b")};
  std::atomic<bool> is_over{false};
  std::vector<std::jthread> writers;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    writers.emplace_back([&, i] {
      for (std::int64_t n = 1; !is_over; ++n) {
        const auto ticket = recorder.begin(*groups[i], all_reduce(n), Nanoseconds{n});
        recorder.end(ticket, true, Nanoseconds{n + 5});
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const FlightDump dump = recorder.snapshot();
    for (const FlightDump::Entry& entry : dump.entries) {
      EXPECT_EQ(entry.call->input, entry.call->output);
      EXPECT_EQ(entry.call->input[0], entry.collective_seq);
      EXPECT_EQ(entry.completed_ns.value_or(entry.created_ns + 5) - entry.created_ns, 5);
    }
  }
  is_over = true;
}

class WrittenDumps : public testing::Test {
 protected:
  WrittenDumps() {
    fs::create_directories(folder_);
    settings_.prefix = folder_ + "/trace_rank_";
    settings_.is_json = true;
  }
  ~WrittenDumps() override { fs::remove_all(folder_); }
  [[nodiscard]] nlohmann::json read(int rank) const {
    const auto text = read_file(settings_.prefix + std::to_string(rank) + ".json");
    return text ? nlohmann::json::parse(*text) : nlohmann::json();
  }

  const std::string folder_ =
      testing::TempDir() + "ringside_recorder_" + std::to_string(::getpid());
  FlightSettings settings_ = settings_with(8);
};

TEST_F(WrittenDumps, AFailureIsWrittenOnceAndTheOthersAreAskedOnce) {
  std::atomic<int> asked{0};
  FlightRecorder recorder(settings_, 2);
  FlightRecorder::Group& group = join(recorder, "0", [&] { ++asked; });
  recorder.begin(group, all_reduce(1), Nanoseconds{1});
  recorder.failed("the first");
  recorder.begin(group, all_reduce(2), Nanoseconds{2});
  recorder.failed("the second");
  ASSERT_TRUE(recorder.wait_written(kPlenty));
  EXPECT_EQ(asked, 1);
  const nlohmann::json dump = read(2);
  EXPECT_EQ(dump["ringside"]["reason"], "the first");
  EXPECT_EQ(dump["entries"].size(), 1U);  // as it was at the failure
}

TEST_F(WrittenDumps, OneThatHasLeftAsksNoRank) {
  std::atomic<int> asked{0};
  FlightRecorder recorder(settings_, 2);
  recorder.leave(join(recorder, "0", [&] { ++asked; }));
  recorder.failed("why");
  ASSERT_TRUE(recorder.wait_written(kPlenty));
  EXPECT_EQ(asked, 0);
}

TEST_F(WrittenDumps, WritesRequestedDumpsBeforeTheEnd) {
  {
    FlightRecorder recorder(settings_, 2);
    join(recorder);
    recorder.failed("the last lines");
  }
  EXPECT_EQ(read(2)["ringside"]["reason"], "the last lines");
}

TEST_F(WrittenDumps, WritesNoDumpUnlessRequested) {
  settings_.dumps_on_failure = false;
  {
    FlightRecorder recorder(settings_, 2);
    recorder.failed("why");
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(WrittenDumps, AWordInThePipeWritesADumpAndThePipeGoesWithTheRecorder) {
  settings_.pipe = settings_.prefix + "ask";
  const std::string pipe = settings_.pipe + "7.pipe";
  {
    FlightRecorder recorder(settings_, 7);
    FlightRecorder::Group& group = join(recorder);
    for (int round = 1; round <= 2; ++round) {
      recorder.begin(group, all_reduce(round), Nanoseconds{round});
      fs::remove(settings_.prefix + "7.json");
      std::ofstream(pipe) << "1\n" << std::flush;
      for (int i = 0; i < 2000 && read(7).is_null(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      ASSERT_FALSE(read(7).is_null());
      EXPECT_EQ(read(7)["entries"].size(), static_cast<std::size_t>(round));
    }
  }
  EXPECT_FALSE(fs::exists(pipe));
}

/// Makes a call that begins and never ends, with connections that have the progress in `messages`.
void never_end(FlightRecorder& recorder, std::atomic<std::uint64_t>& messages) {
  FlightRecorder::Group& group =
      recorder.join({"0", "default_pg", {4, 5}, 1, std::chrono::milliseconds(1)},
                    [&messages](std::vector<FlightDump::Progress>& progress) {
                      progress.emplace_back().messages = messages;
                    },
                    {});
  recorder.begin(group, all_reduce(1), trace_now());
}

using StuckThreads = WrittenDumps;

TEST_F(StuckThreads, EndTheProcessOnceTheirCallHasLongOutlivedItsTimeout) {
  settings_.heartbeat = std::chrono::milliseconds(40);
  EXPECT_EXIT(
      {
        FlightRecorder recorder(settings_, 7);
        std::atomic<std::uint64_t> messages{3};
        never_end(recorder, messages);
        std::this_thread::sleep_for(kPlenty);
        std::exit(0);
      },
      testing::KilledBySignal(SIGABRT), "call 1 of communicator 0 makes no progress");
  EXPECT_NE(read(7)["ringside"]["reason"].get<std::string>().find("stuck"), std::string::npos);
}

TEST_F(StuckThreads, AreNotReportedWithProgressOrWithoutTheCheck) {
  for (const bool moves : {true, false}) {
    settings_.heartbeat = std::chrono::milliseconds(moves ? 200 : 0);
    FlightRecorder recorder(settings_, 7);
    std::atomic<std::uint64_t> messages{0};
    never_end(recorder, messages);
    for (int i = 0; i < 60; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      messages += moves ? 1 : 0;
    }
    EXPECT_TRUE(fs::is_empty(folder_));
  }
}

TEST_F(WrittenDumps, ASignalWritesADumpAndTheJobContinues) {
  {
    FlightRecorder recorder(settings_, 7);
    FlightRecorder::Group& group = join(recorder);
    recorder.dump_on_signal();
    for (int round = 1; round <= 2; ++round) {
      recorder.begin(group, all_reduce(round), Nanoseconds{round});
      fs::remove(settings_.prefix + "7.json");
      ASSERT_EQ(::kill(::getpid(), SIGUSR1), 0);
      for (int i = 0; i < 2000 && read(7).is_null(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      ASSERT_FALSE(read(7).is_null());
      EXPECT_EQ(read(7)["entries"].size(), static_cast<std::size_t>(round));
      EXPECT_EQ(read(7)["ringside"]["reason"], "SIGUSR1");
    }
  }
  // The next recorder finds the signal's handler as it was.
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGUSR1, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace ringside

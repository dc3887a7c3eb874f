#include "trace/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/trace/trace_files.h"
#include "trace/match.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kMs = 1000 * kUs;
constexpr std::int64_t kSecond = 1000 * kMs;

/// A host whose clock began `boot_ns` after the others' zero, whose wall clock is `wrong_ns` ahead, and which runs
/// `ppm` too fast.
struct Host {
  std::string name;
  std::int64_t boot_ns = 0;
  std::int64_t wrong_ns = 0;
  double ppm = 0;

  [[nodiscard]] std::int64_t shown_at(std::int64_t true_ns) const {
    return true_ns - boot_ns + std::llround(static_cast<double>(true_ns) * ppm / 1e6);
  }
};

/// Jobs whose ranks, one per host, send chunks to each other; each host records what it saw with its own clock.
class Hosts {
 public:
  explicit Hosts(std::vector<Host> hosts) : hosts_(std::move(hosts)), events_(hosts_.size()) {}

  /// Sends at `true_ns`; the chunk arrives `way_ns` later.
  void send(std::size_t from, std::size_t to, std::int64_t true_ns, std::int64_t way_ns) {
    TraceEvent event;
    event.primitive = Primitive::Send;
    event.rank = static_cast<std::int32_t>(from);
    event.send_peer = static_cast<std::int32_t>(to);
    event.begin_ns = hosts_[from].shown_at(true_ns);
    event.end_ns = event.begin_ns + 1;
    events_[from].push_back(event);
    event.primitive = Primitive::Recv;
    event.rank = static_cast<std::int32_t>(to);
    event.send_peer = -1;
    event.recv_peer = static_cast<std::int32_t>(from);
    event.end_ns = hosts_[to].shown_at(true_ns + way_ns);
    event.begin_ns = event.end_ns - 1;
    events_[to].push_back(event);
    sent_.push_back(true_ns);
  }

  void exchange(std::size_t a, std::size_t b, std::int64_t every_ns, int times,
                std::int64_t way_ns) {
    for (int i = 0; i < times; ++i) {
      send(a, b, i * every_ns, way_ns);
      send(b, a, i * every_ns + every_ns / 2, way_ns);
    }
  }

  Result<TraceMerge> merge(TraceMemorySink& sink) {
    std::vector<FileBytes> bytes;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      TraceMemorySink own;
      BlockEncoder encoder;
      TraceInfo info;
      info.host = hosts_[i].name;
      info.pid = 7;  // as in containers
      info.realtime_offset = Nanoseconds{hosts_[i].boot_ns + hosts_[i].wrong_ns};
      EXPECT_TRUE(own.write(encoder.info(info)));
      if (!events_[i].empty()) {
        EXPECT_TRUE(own.write(encoder.events(events_[i], ClockMap(), 7)));
      }
      bytes.push_back(own.bytes());
      names.push_back(hosts_[i].name + ".rtrace");
    }
    std::vector<TraceFile> files;
    std::vector<const TraceFile*> places;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      auto file = TraceFile::parse(bytes[i], names[i]);
      EXPECT_TRUE(file);
      files.push_back(*std::move(file));
    }
    for (const TraceFile& file : files) places.push_back(&file);
    return merge_traces(places, names, sink);
  }

 private:
  std::vector<Host> hosts_;
  std::vector<std::vector<TraceEvent>> events_;
  std::vector<std::int64_t> sent_;
};

/// The shortest and the longest transfer time in a merged trace.
struct Ways {
  std::int64_t least = INT64_MAX;
  std::int64_t most = INT64_MIN;
  std::uint64_t count = 0;
};

Ways ways_in(const TraceMemorySink& sink) {
  const FileBytes bytes = sink.bytes();
  const auto file = TraceFile::parse(bytes, "merged");
  EXPECT_TRUE(file);
  Ways ways;
  TransferMatcher matcher([&](const TraceTransfer& transfer) {
    const std::int64_t way = transfer.recv_end_ns - transfer.send_begin_ns;
    ways.least = std::min(ways.least, way);
    ways.most = std::max(ways.most, way);
    ++ways.count;
  });
  file->for_each_event([&](const TraceEvent& event) { matcher.add(event); });
  return ways;
}

// The wall clock is 3 ms wrong, and the host booted 17 hours later: the messages show both. Each takes 20 us, so that
// the bounds from both directions are 40 us apart; the middle is correct as both take the same time.
TEST(TraceMerge, MessagesBothWaysCorrectTheWallClocks) {
  Hosts hosts({{"n01"}, {"n02", 61'000 * kSecond, 3 * kMs}});
  hosts.exchange(0, 1, kMs, 100, 20 * kUs);
  TraceMemorySink sink;
  const auto made = hosts.merge(sink);
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->clocks.size(), 2U);
  EXPECT_EQ(made->clocks[1].evidence, ClockEvidence::Messages);
  EXPECT_EQ(made->clocks[1].moved, Nanoseconds{-3 * kMs});
  EXPECT_EQ(made->clocks[1].uncertainty, Nanoseconds{20 * kUs});
  EXPECT_EQ(made->clocks[1].messages, 200U);
  EXPECT_EQ(made->clocks[1].pieces, 1U);
  const Ways ways = ways_in(sink);
  EXPECT_EQ(ways.count, 200U);
  EXPECT_EQ(ways.least, 20 * kUs);
  EXPECT_EQ(ways.most, 20 * kUs);
}

// 50 ppm over 100 s are 5 ms: with a single offset, some messages would arrive 2 ms before they were sent.
TEST(TraceMerge, ClocksThatDriftAreFollowedInPieces) {
  Hosts hosts({{"n01"}, {"n02", 500 * kSecond, -kMs, 50}});
  hosts.exchange(0, 1, 25 * kMs, 4000, 20 * kUs);
  TraceMemorySink sink;
  const auto made = hosts.merge(sink);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_GT(made->clocks[1].pieces, 8U);
  const Ways ways = ways_in(sink);
  EXPECT_EQ(ways.count, 8000U);
  EXPECT_GT(ways.least, -60 * kUs);
  EXPECT_LT(ways.most, 100 * kUs);
}

TEST(TraceMerge, ClocksAreJoinedAlongConnections) {
  Hosts hosts({{"n01"}, {"n02", kSecond * 50, 7 * kMs}, {"n03", kSecond * 90, -11 * kMs}});
  hosts.exchange(2, 1, kMs, 50, 10 * kUs);
  hosts.exchange(1, 0, kMs, 50, 30 * kUs);
  TraceMemorySink sink;
  const auto made = hosts.merge(sink);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->clocks[2].moved, Nanoseconds{11 * kMs});
  EXPECT_EQ(made->clocks[2].uncertainty, Nanoseconds{40 * kUs});  // its own 10, and n02's 30
  EXPECT_EQ(ways_in(sink).least, 10 * kUs);
}

// Sent at 1 ms by a clock that is 5 ms behind, the message seems to arrive before it was sent: by 5 ms less 20 us.
TEST(TraceMerge, OneDirectionMovesNoFartherThanItMust) {
  Hosts late({{"n01"}, {"n02", kSecond * 50, -5 * kMs}});
  late.send(0, 1, kMs, 20 * kUs);
  TraceMemorySink sink;
  const auto made = late.merge(sink);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->clocks[1].evidence, ClockEvidence::OneWay);
  EXPECT_EQ(made->clocks[1].moved, Nanoseconds{5 * kMs - 20 * kUs});
  EXPECT_EQ(ways_in(sink).least, 0);

  Hosts early({{"n01"}, {"n02", kSecond * 50, 5 * kMs}});
  early.send(0, 1, kMs, 20 * kUs);
  TraceMemorySink other;
  const auto kept = early.merge(other);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->clocks[1].moved, Nanoseconds{0});
}

TEST(TraceMerge, AProcessWithoutConnectionsKeepsTheWallClock) {
  Hosts hosts({{"n01"}, {"n02", 50 * kSecond, 5 * kMs}});
  TraceMemorySink sink;
  const auto made = hosts.merge(sink);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->clocks[1].evidence, ClockEvidence::WallClocks);
  EXPECT_EQ(made->events, 0U);
}

// There is a file per process on one host: they share one clock, and nothing is moved.
TEST(TraceMerge, ProcessesOfOneBootShareTheirClock) {
  Hosts hosts({{"n01", 9 * kSecond}, {"n01", 9 * kSecond, 30 * kUs}});
  hosts.exchange(0, 1, kMs, 10, 20 * kUs);
  TraceMemorySink sink;
  const auto made = hosts.merge(sink);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->clocks.size(), 1U);
  EXPECT_EQ(made->clocks[0].processes, 2U);
  EXPECT_EQ(ways_in(sink).least, 20 * kUs);
}

TEST(TraceMerge, AMergedTraceMergesAgainWithoutAMove) {
  Hosts hosts({{"n01"}, {"n02", 61'000 * kSecond, 3 * kMs}});
  hosts.exchange(0, 1, kMs, 10, 20 * kUs);
  TraceMemorySink once;
  ASSERT_TRUE(hosts.merge(once));
  const FileBytes bytes = once.bytes();
  const auto file = TraceFile::parse(bytes, "once");
  ASSERT_TRUE(file);
  EXPECT_THAT(file->processes()[1].values,
              ElementsAre(testing::Pair(
                  "clock", "moved by -3.00ms from the wall clocks, +-20.00us (messages)")));
  const std::vector<const TraceFile*> places{&*file};
  const std::vector<std::string> names{"once"};
  TraceMemorySink twice;
  const auto made = merge_traces(places, names, twice);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->clocks.size(), 1U);
  EXPECT_EQ(ways_in(twice).least, 20 * kUs);
}

Result<TraceMerge> merge_of(const TraceInfo& info, const std::optional<TraceEvent>& event) {
  std::vector<FileBytes> bytes;
  for (int i = 0; i < 2; ++i) {
    TraceMemorySink own;
    BlockEncoder encoder;
    EXPECT_TRUE(own.write(encoder.info(info)));
    if (event) {
      EXPECT_TRUE(own.write(encoder.events(std::span(&*event, 1), ClockMap(), info.pid)));
    }
    bytes.push_back(own.bytes());
  }
  const auto a = TraceFile::parse(bytes[0], "a");
  const auto b = TraceFile::parse(bytes[1], "b");
  const std::vector<const TraceFile*> places{&*a, &*b};
  const std::vector<std::string> names{"a", "b"};
  TraceMemorySink sink;
  return merge_traces(places, names, sink);
}

TEST(TraceMerge, RefusesTracesWithoutACommonClock) {
  TraceInfo simulated;
  simulated.clock = TraceClock::Simulated;
  const auto made = merge_of(simulated, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(made.error().message, HasSubstr("a: a simulated run"));
}

TEST(TraceMerge, TimesThatNoClockShowsAreRefused) {
  TraceEvent event;
  event.begin_ns = (std::int64_t{1} << 61) + 1;
  event.end_ns = event.begin_ns + 1;
  const auto made = merge_of({}, event);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::Corrupt);
  TraceInfo absurd;
  absurd.realtime_offset = Nanoseconds{INT64_MIN};
  EXPECT_FALSE(merge_of(absurd, {}));
}

}  // namespace
}  // namespace ringside

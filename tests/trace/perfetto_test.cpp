#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/json.h"
#include "ringside/trace_export.h"
#include "tests/trace/small_trace.h"

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Exported {
  std::string text;
  Json document;
  PerfettoCounts counts;

  [[nodiscard]] std::vector<Json> phase(const std::string& ph) const {
    std::vector<Json> found;
    for (const Json& record : document["traceEvents"]) {
      if (record["ph"] == ph) found.push_back(record);
    }
    return found;
  }
};

Exported exported(const std::vector<TraceEvent>& events, const TraceInfo& info = {}) {
  FileBytes bytes = file_header();
  append_bytes(bytes, info_block(info));
  if (!events.empty()) append_bytes(bytes, events_block(events));
  const Result<TraceFile> file = TraceFile::parse(bytes, "test.rtrace");
  EXPECT_TRUE(file);
  std::ostringstream out;
  const Result<PerfettoCounts> counts = export_perfetto(*file, out);
  EXPECT_TRUE(counts);
  return {out.str(), Json::parse(out.str()), *counts};
}

TEST(Perfetto, AnEventIsACompleteSliceOfItsRankAndChannel) {
  TraceEvent event;
  event.begin_ns = 1'234'567;
  event.end_ns = 1'234'567 + 8'009;
  event.rank = 3;
  event.channel = 2;
  event.recv_peer = 2;
  event.send_peer = 4;
  event.step = 11;
  event.sequence = 5;
  event.bytes = 65536;
  event.offset = 131072;
  event.primitive = Primitive::RecvCopySend;
  const Exported out = exported({event});
  EXPECT_THAT(out.text,
              HasSubstr(R"({"ph":"X","name":"recv_copy_send","cat":"primitive","pid":3,"tid":2,)"
                        R"("ts":1234.567,"dur":8.009,"args":{"sequence":5,"bytes":65536,"step":11,)"
                        R"("offset":131072,"recv_peer":2,"send_peer":4,"collective":"all_reduce",)"
                        R"("algorithm":"ring","protocol":"simple"}})"));
}

TEST(Perfetto, MarksCallsThatNeverEnded) {
  std::vector<TraceEvent> events(2);
  for (TraceEvent& event : events) event.kind = EventKind::Collective;
  events[0].end_ns = 1'000;
  events[1].begin_ns = 2'000;
  events[1].end_ns = 5'000;
  TraceInfo info;
  info.values = {{kNeverEnded, "5000"}};
  const std::vector<Json> slices = exported(events, info).phase("X");
  ASSERT_EQ(slices.size(), 2U);
  EXPECT_EQ(slices[0]["name"], "all_reduce");
  EXPECT_FALSE(slices[0]["args"].contains("never_ended"));
  EXPECT_EQ(slices[1]["name"], "all_reduce (never ended)");
  EXPECT_EQ(slices[1]["args"]["never_ended"], true);
}

TEST(Perfetto, NamesTheGroupsOfTheTrace) {
  std::vector<TraceEvent> events(2);
  for (TraceEvent& event : events) event.kind = EventKind::Collective;
  events[1].communicator = 1;
  TraceInfo info;
  info.values = {{kTraceGroups, "world; tensor \"[0]\""}};
  std::vector<std::string> names;
  for (const Json& record : exported(events, info).phase("M")) {
    if (record["name"] == "process_name") names.push_back(record["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("rank 0 of world", "rank 0 of tensor \"[0]\""));
}

TEST(Perfetto, MarksModelledSteps) {
  TraceEvent event;
  event.algorithm = Algorithm::Nvls;
  event.is_modelled = true;
  EXPECT_EQ(exported({event}).phase("X")[0]["args"]["is_modelled"], true);
  event.is_modelled = false;
  EXPECT_FALSE(exported({event}).phase("X")[0]["args"].contains("is_modelled"));
}

// A send to ranks 1 and 2: one slice, two arrows.
TEST(Perfetto, AFurtherPeerIsAnArrowButNoSlice) {
  std::vector<TraceEvent> events(4);
  for (TraceEvent& event : events) event.primitive = Primitive::Send;
  events[0].send_peer = 1;
  events[1].kind = EventKind::Peer;
  events[1].send_peer = 2;
  for (const std::size_t receiver : {2U, 3U}) {
    events[receiver].primitive = Primitive::Recv;
    events[receiver].rank = static_cast<std::int32_t>(receiver) - 1;
    events[receiver].recv_peer = 0;
  }
  const Exported out = exported(events);
  EXPECT_EQ(out.phase("X").size(), 3U);
  EXPECT_EQ(out.phase("s").size(), 2U);
  EXPECT_EQ(out.counts.unmatched_halves, 0U);
}

TEST(Perfetto, ProcessesAreRanksAndThreadsChannels) {
  const Exported out = exported(late_all_reduce());
  EXPECT_EQ(out.phase("X").size(), 8U);
  std::vector<std::string> names;
  for (const Json& record : out.phase("M")) {
    if (!record["args"].contains("name")) continue;
    names.push_back(fmt::format("{}/{} {}", record["pid"].get<int>(), record["tid"].get<int>(),
                                record["args"]["name"].get<std::string>()));
  }
  EXPECT_THAT(names, ElementsAre("0/0 rank 0", "0/0 channel 0", "0/65536 collectives", "1/0 rank 1",
                                 "1/0 channel 0", "1/65536 collectives"));
}

TEST(Perfetto, RanksOfAnotherCommunicatorAreOtherProcesses) {
  TraceEvent first;
  first.communicator = 77;
  TraceEvent second;
  second.communicator = 3;
  const Exported out = exported({first, second});
  EXPECT_EQ(out.phase("X")[0]["pid"], 0);
  EXPECT_EQ(out.phase("X")[1]["pid"], 1'000'000);
  EXPECT_THAT(out.text, HasSubstr("rank 0 of communicator 3"));
}

TEST(Perfetto, AnArrowLeadsFromEachSendToTheReceiveThatItFed) {
  const Exported out = exported(late_all_reduce());
  const std::vector<Json> starts = out.phase("s");
  const std::vector<Json> ends = out.phase("f");
  ASSERT_EQ(starts.size(), 4U);
  ASSERT_EQ(ends.size(), 4U);
  std::vector<std::string> arrows;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i]["id"], i + 1);
    EXPECT_EQ(ends[i]["id"], starts[i]["id"]);
    EXPECT_EQ(ends[i]["bp"], "e");
    EXPECT_LE(starts[i]["ts"].get<double>(), ends[i]["ts"].get<double>());
    arrows.push_back(fmt::format("{} at {} to {} at {}", starts[i]["pid"].get<int>(),
                                 starts[i]["ts"].get<double>(), ends[i]["pid"].get<int>(),
                                 ends[i]["ts"].get<double>()));
  }
  // From the sender's beginning to one ns before the receiver's end, in the order of the file.
  EXPECT_THAT(arrows, ElementsAre("1 at 40 to 0 at 69.999", "0 at 0 to 1 at 79.999",
                                  "1 at 50 to 0 at 99.999", "0 at 10 to 1 at 89.999"));
  EXPECT_EQ(out.counts.arrows, 4U);
  EXPECT_EQ(out.counts.unmatched_halves, 0U);
}

TEST(Perfetto, ASendWithoutAReceiveHasNoArrow) {
  std::vector<TraceEvent> events = late_all_reduce();
  events.resize(4);  // rank 0 alone
  const Exported out = exported(events);
  EXPECT_TRUE(out.phase("s").empty());
  EXPECT_EQ(out.counts.unmatched_halves, 4U);  // 2 sends, 2 receives
}

TEST(Perfetto, AnArrowNeverPointsBackInTime) {
  std::vector<TraceEvent> events = late_all_reduce();
  events[4].begin_ns = 500'000;
  events[4].end_ns = 510'000;
  const Exported out = exported(events);
  EXPECT_EQ(out.phase("s")[0]["ts"], 69.999);
  EXPECT_EQ(out.phase("f")[0]["ts"], 69.999);
}

TEST(Perfetto, IsValidJsonForAnyCommandLine) {
  TraceInfo info;
  info.host = "node\"7\"\n";
  info.command_line = "ringside \\ \x80\xff \t end";
  const Exported out = exported({}, info);
  EXPECT_EQ(out.document["otherData"]["host"], "node\"7\"\n");
  EXPECT_TRUE(out.document["traceEvents"].empty());
}

TEST(Perfetto, NegativeTimesKeepTheirDecimals) {
  TraceEvent event;
  event.begin_ns = -1'500;
  event.end_ns = -1;
  EXPECT_THAT(exported({event}).text, HasSubstr("\"ts\":-1.500,\"dur\":1.499"));
}

TEST(Perfetto, ManyEventsStreamThroughTheBuffer) {
  const Exported out = exported(steps(0, 5'000));
  EXPECT_EQ(out.counts.events, 5'000U);
  EXPECT_EQ(out.phase("X").size(), 5'000U);
}

TraceEvent slice(std::int64_t begin_ns, std::int64_t end_ns, Primitive primitive,
                 std::int32_t rank = 0) {
  TraceEvent event;
  event.begin_ns = begin_ns;
  event.end_ns = end_ns;
  event.primitive = primitive;
  event.rank = rank;
  event.bytes = 100;
  return event;
}

// A viewer draws slices of one thread inside each other, and cuts those that overlap.
TEST(Perfetto, SlicesThatOverlapAreInThreadsOfTheirOwn) {
  const Exported out =
      exported({slice(0, 100, Primitive::Recv), slice(50, 150, Primitive::RecvSend),
                slice(100, 120, Primitive::Recv)});
  const std::vector<Json> slices = out.phase("X");
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0]["tid"], 0);
  EXPECT_NE(slices[1]["tid"], 0);
  EXPECT_EQ(slices[2]["tid"], 0) << "there is room behind the first one";
  EXPECT_THAT(out.text, HasSubstr("channel 0 (2)"));
}

// 32 sends that take no time, and a step that begins at the same time: two slices, and both ends of the arrows in them.
TEST(Perfetto, StepsOfNoLengthAreOneSliceThatArrowsReach) {
  std::vector<TraceEvent> events;
  for (std::uint32_t i = 0; i < 32; ++i) {
    events.push_back(slice(1000, 1000, Primitive::Send));
    events.back().send_peer = 1;
    events.back().step = i;
  }
  events.push_back(slice(1000, 5000, Primitive::Recv));
  for (std::uint32_t i = 0; i < 32; ++i) {
    events.push_back(slice(2000 + 10 * i, 2005 + 10 * i, Primitive::Recv, 1));
    events.back().recv_peer = 0;
    events.back().step = i;
  }
  const Exported out = exported(events);
  EXPECT_EQ(out.counts.events, 65U);
  const std::vector<Json> slices = out.phase("X");
  ASSERT_EQ(slices.size(), 34U);
  EXPECT_EQ(slices[0]["args"]["steps_of_no_length"], 32);
  EXPECT_EQ(slices[0]["args"]["bytes"], 3200);
  EXPECT_EQ(slices[0]["dur"], 0.001);
  EXPECT_EQ(slices[1]["ts"], 1.001);
  const std::vector<Json> starts = out.phase("s");
  ASSERT_EQ(starts.size(), 32U);
  for (const Json& start : starts) {
    EXPECT_EQ(start["ts"], 1.0);
    EXPECT_EQ(start["tid"], slices[0]["tid"]);
  }
  EXPECT_LT(out.text.find("\"ph\":\"X\""), out.text.find("\"ph\":\"s\""))
      << "a viewer looks for the slice first";
}

TEST(Perfetto, ReportsHowFarItIs) {
  FileBytes bytes = file_header();
  for (std::uint32_t i = 0; i < 4; ++i) append_bytes(bytes, events_block(steps(i, 1)));
  const Result<TraceFile> file = TraceFile::parse(bytes, "test.rtrace");
  ASSERT_TRUE(file);
  std::vector<double> shares;
  std::ostringstream out;
  EXPECT_TRUE(export_perfetto(*file, out, [&](double share) { shares.push_back(share); }));
  EXPECT_THAT(shares, ElementsAre(0.25, 0.5, 0.75, 1));
}

TEST(Perfetto, AFailingStreamIsAnError) {
  const FileBytes bytes = file_header();
  const Result<TraceFile> file = TraceFile::parse(bytes, "test.rtrace");
  ASSERT_TRUE(file);
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const auto counts = export_perfetto(*file, out);
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().code, ErrorCode::System);
}

}  // namespace
}  // namespace ringside

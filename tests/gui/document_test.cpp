#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gui/model/session/session.h"
#include "study/scenario/played_trace.h"
#include "tests/gui/documents.h"
#include "trace/recorder.h"
#include "trace/sink.h"

namespace ringside::gui {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Document, ACallLastsFromItsFirstRankToItsLast) {
  const auto document = late_document();
  ASSERT_EQ(document->calls.size(), 1U);
  const CallFacts& call = document->calls.front();
  EXPECT_EQ(call.time.begin_ns, 0);
  EXPECT_EQ(call.time.end_ns, 100'000);
  EXPECT_EQ(call.ranks, 2);
  EXPECT_EQ(title_of(*document, call), "all_reduce 1000 B, ring/simple, call 0");
}

TEST(Document, ACallWithoutAnEndIsRecognisedByItsSteps) {
  std::vector<TraceEvent> events = late_all_reduce();
  std::erase_if(events,
                [](const TraceEvent& event) { return event.kind == EventKind::Collective; });
  const auto document = document_of(events);
  ASSERT_EQ(document->calls.size(), 1U);
  EXPECT_EQ(document->calls.front().ranks, 0) << "that came to its end";
  EXPECT_EQ(document->calls.front().time.end_ns, 100'000);
}

// The files are those that `ringside run -o` writes.
TEST(Document, ATraceOfARunShowsStuckCallsAndGroupNames) {
  const auto sink = std::make_shared<TraceMemorySink>();
  TraceInfo info = this_process_info(TraceClock::Simulated);
  info.values.emplace_back(kNeverEnded, "9000");
  info.values.emplace_back(kTraceGroups, "world [0]; tensor [1]");
  {
    const auto recorder = TraceRecorder::start(sink, std::move(info));
    ASSERT_TRUE(recorder);
    TraceLane* const lane = (*recorder)->add_lane();
    TraceEvent event;
    event.kind = EventKind::Collective;
    event.end_ns = 1000;
    lane->record(event);
    event.sequence = 1;
    event.begin_ns = 2000;
    event.end_ns = 9000;
    lane->record(event);
  }
  const std::vector<std::byte> bytes = sink->bytes();
  auto file = TraceFile::parse(bytes, "memory");
  ASSERT_TRUE(file);
  auto replay = Replay::make(*std::move(file));
  ASSERT_TRUE(replay);
  const Document document = make_document("test", *std::move(replay));
  EXPECT_EQ(name_of_communicator(document, 1), "tensor [1]");
  EXPECT_EQ(name_of_communicator(document, 2), "world [0], transfers");
  EXPECT_THAT(describe(document, EventId{0}), Not(Contains(HasSubstr("never ended"))));
  EXPECT_THAT(describe(document, EventId{1}), Contains(HasSubstr("it never ended")));
  std::vector<EventId> scratch;
  const EventId stuck{1};
  EXPECT_EQ(waiting_of(document, stuck, document.replay->event(stuck), scratch).count(), 7000);
}

TEST(Document, CallAtIsTheOneGoingOnElseTheLastBegun) {
  std::vector<TraceEvent> events;
  for (const std::int64_t begin : {100, 200, 300}) {
    TraceEvent event;
    event.kind = EventKind::Collective;
    event.sequence = static_cast<std::uint32_t>(begin / 100);
    event.begin_ns = begin;
    event.end_ns = begin + 50;
    events.push_back(event);
  }
  const auto document = document_of(events);
  EXPECT_EQ(document->call_at(0)->sequence, 1U);
  EXPECT_EQ(document->call_at(220)->sequence, 2U);
  EXPECT_EQ(document->call_at(280)->sequence, 2U);
  EXPECT_EQ(document->call_at(999)->sequence, 3U);
}

TEST(Document, TheTimeBeforeTheSenderBeganIsWaiting) {
  // Rank 0's step 1 is from 10 to 70 us; what it takes was sent from 40 on.
  const auto document = late_document();
  std::vector<EventId> scratch;
  const EventId step{1};
  EXPECT_EQ(waiting_of(*document, step, document->replay->event(step), scratch).count(), 30'000);
  EXPECT_THAT(describe(*document, step),
              Contains(HasSubstr("30.00us of that its sender had not begun")));
}

// Rank 0 is in the call from 0 on, rank 1 from 40 us on.
TEST(Document, ACallWaitsForTheLastRank) {
  const auto document = late_document();
  const Replay& replay = *document->replay;
  std::vector<EventId> scratch;
  std::vector<std::int64_t> waited;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    const EventId id = replay.events(*replay.find({0, rank, LaneKey::kCalls})).front();
    waited.push_back(waiting_of(*document, id, replay.event(id), scratch).count());
  }
  EXPECT_EQ(waited, (std::vector<std::int64_t>{40'000, 0}));
}

TEST(Document, ATornFileIsAFinding) {
  FileBytes bytes = file_header();
  append_bytes(bytes, events_block(late_all_reduce()));
  bytes.resize(bytes.size() + 7);
  const Document document = make_document("torn", *Replay::make(*TraceFile::parse(bytes, "torn")));
  ASSERT_EQ(document.findings.size(), 1U);
  EXPECT_THAT(document.findings.front().lines,
              Contains(HasSubstr("bytes belong to no whole block")));
}

TEST(Document, AnEmptyTraceHasAnEndAndNoCall) {
  const auto document = document_of({});
  EXPECT_EQ(document->call_at(0), nullptr);
  EXPECT_GT(document->whole().end_ns, document->whole().begin_ns);
}

// The same steps, each three times as long, by another protocol.
TEST(Compare, EquallyManySlowerStepsAreReported) {
  std::vector<TraceEvent> events = regular_events(4, 1, 10);
  const auto first = document_of(events);
  for (TraceEvent& event : events) {
    event.begin_ns *= 3;
    event.end_ns = event.begin_ns + 2700;
    event.protocol = Protocol::LL;
  }
  const auto text_beside = [&](const std::shared_ptr<const Document>& other) {
    Session session;
    session.open(first);
    session.compare_with(other);
    return to_text(session.prepare(View::Compare, {.width = 900, .height = 500}));
  };
  EXPECT_THAT(
      text_beside(document_of(events)),
      HasSubstr("As many steps in both, and one takes 3.00 x as long in the second; key 4"));
  EXPECT_THAT(text_beside(first), Not(HasSubstr("As many steps")));
}

}  // namespace
}  // namespace ringside::gui

#include "gui/model/views/chunk_history.h"

#include <gtest/gtest.h>

#include "tests/gui/documents.h"

namespace ringside::gui {
namespace {

// Two ranks, two chunks of 500 bytes: rank 0 sends chunk 1 to 10 us, rank 1 adds its own to 80 us and sends it back.
TEST(ChunkHistory, SumsAreForwardedAndKeptByTheRanksThatWriteThem) {
  const auto document = late_document();
  const auto history = ChunkHistory::make(*document, document->calls.front());
  ASSERT_TRUE(history);
  EXPECT_EQ(history->ranks(), 2);
  EXPECT_EQ(history->chunks(), (std::vector<std::uint64_t>{0, 500}));
  EXPECT_EQ(history->whole(), 2);
  for (int rank = 0; rank < 2; ++rank) {
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
      EXPECT_TRUE(history->at(rank, chunk, 0).has(rank)) << "at first its own alone";
      EXPECT_EQ(history->at(rank, chunk, 0).count(), 1);
      EXPECT_EQ(history->at(rank, chunk, 100'000).count(), 2) << "in the end of both";
      EXPECT_TRUE(history->at(rank, chunk, 100'000).is_kept);
    }
  }
  EXPECT_EQ(history->at(1, 1, 79'999).count(), 1);
  EXPECT_EQ(history->at(1, 1, 80'000).count(), 2) << "reduced when the step ends";
  EXPECT_EQ(history->at(0, 1, 99'999).count(), 1);
  EXPECT_EQ(history->flights().size(), 4U) << "one for each chunk there, one back";
  EXPECT_EQ(history->rounds(), 2) << "2(n - 1)";
}

TEST(ChunkHistory, ABroadcastChunkIsOfItsRootAlone) {
  const auto primitive = [](std::int32_t rank, Primitive what, std::int64_t begin) {
    TraceEvent event;
    event.collective = Collective::Broadcast;
    event.rank = rank;
    event.primitive = what;
    event.begin_ns = begin;
    event.end_ns = begin + 10;
    event.recv_peer = rank > 0 ? rank - 1 : -1;
    event.send_peer = rank < 2 ? rank + 1 : -1;
    return event;
  };
  const auto document = document_of(std::vector{primitive(0, Primitive::CopySend, 0),
                                                primitive(1, Primitive::RecvCopySend, 10),
                                                primitive(2, Primitive::Recv, 20)});
  const auto history = ChunkHistory::make(*document, document->calls.front());
  ASSERT_TRUE(history);
  EXPECT_EQ(history->whole(), 1);
  EXPECT_EQ(history->at(2, 0, 29).count(), 0);
  EXPECT_TRUE(history->at(2, 0, 30).has(0));
  EXPECT_EQ(history->at(2, 0, 30).count(), 1);
  EXPECT_EQ(history->rounds(), 2);
}

TEST(ChunkHistory, AnImpossibleRankIsRefused) {
  std::vector<TraceEvent> events = late_all_reduce();
  events.front().rank = 1 << 30;
  const auto document = document_of(events);
  EXPECT_FALSE(ChunkHistory::make(*document, document->calls.front()));
}

TEST(ChunkHistory, ReportsACallWithoutSteps) {
  std::vector<TraceEvent> events = late_all_reduce();
  std::erase_if(events, [](const TraceEvent& event) { return event.kind == EventKind::Primitive; });
  const auto document = document_of(events);
  const auto history = ChunkHistory::make(*document, document->calls.front());
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().message, "the trace has no steps of this call");
}

}  // namespace
}  // namespace ringside::gui

#include <gtest/gtest.h>

#include <cmath>

#include "gui/model/chunk_history.h"
#include "gui/model/open.h"
#include "gui/model/session.h"

namespace ringside::gui {
namespace {

std::shared_ptr<const Document> simulated(const std::string& algorithm, int ranks,
                                          const char* collective = "all_reduce",
                                          const char* bytes = "256K") {
  study::SimQuestion question;
  question.calls.collective = collective;
  question.calls.sizes = bytes;
  question.job.on = "dgx-h100";
  question.algorithm = algorithm;
  question.protocol = "simple";
  question.channels = 1;
  EXPECT_TRUE(set_ranks(question, ranks));
  const auto opened = open_simulation(question);
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? *opened : nullptr;
}

int rounds_of(const std::shared_ptr<const Document>& document) {
  const auto history = ChunkHistory::make(*document, document->calls.front());
  return history ? history->rounds() : -1;
}

/// What engine/collectives/ring.h states: 2(n - 1), and n - 1 for the half of it.
TEST(Lessons, ARingShowsAsManyRoundsAsItsHeaderStates) {
  for (const int ranks : {4, 8, 16}) {
    EXPECT_EQ(rounds_of(simulated("ring", ranks)), 2 * (ranks - 1)) << ranks;
    EXPECT_EQ(rounds_of(simulated("ring", ranks, "all_gather")), ranks - 1) << ranks;
    EXPECT_EQ(rounds_of(simulated("ring", ranks, "reduce_scatter")), ranks - 1) << ranks;
  }
}

/// engine/collectives/tree.h: 2 x depth. Within a node the tree is a chain, so at 4 and 8 ranks the depth is n - 1; with a
/// second node behind the first one's chain one edge more.
TEST(Lessons, ATreeShowsTwiceItsDepth) {
  EXPECT_EQ(rounds_of(simulated("tree", 4)), 2 * 3);
  EXPECT_EQ(rounds_of(simulated("tree", 8)), 2 * 7);
  EXPECT_EQ(rounds_of(simulated("tree", 16)), 2 * 8);
}

/// engine/collectives/nvls.h: 2 within a node.
TEST(Lessons, NvlsShowsTwoRounds) {
  EXPECT_EQ(rounds_of(simulated("nvls", 4)), 2);
  EXPECT_EQ(rounds_of(simulated("nvls", 8)), 2);
}

/// Whatever the algorithm: in the end each rank holds what the collective promises, as the picture tells it.
TEST(Lessons, InTheEndEachChunkHoldsTheInputOfAll) {
  for (const char* const algorithm : {"ring", "tree", "nvls"}) {
    const auto document = simulated(algorithm, 8);
    const CallFacts& call = document->calls.front();
    const auto history = ChunkHistory::make(*document, call);
    ASSERT_TRUE(history);
    for (std::int32_t rank = 0; rank < history->ranks(); ++rank) {
      for (std::size_t chunk = 0; chunk < history->chunks().size(); ++chunk) {
        const auto holding = history->at(rank, chunk, call.time.end_ns);
        ASSERT_EQ(holding.count(), 8) << algorithm << ", rank " << rank << ", chunk " << chunk;
      }
    }
  }
  for (const char* const collective : {"all_gather", "broadcast"}) {
    const auto document = simulated("ring", 4, collective);
    const CallFacts& call = document->calls.front();
    const auto history = ChunkHistory::make(*document, call);
    ASSERT_TRUE(history);
    for (std::int32_t rank = 0; rank < 4; ++rank) {
      for (std::size_t chunk = 0; chunk < history->chunks().size(); ++chunk) {
        ASSERT_EQ(history->at(rank, chunk, call.time.end_ns).count(), 1)
            << collective << rank << chunk;
      }
    }
  }
}

TEST(Lessons, EachOpensAndEachOfItsViewsShowsSomething) {
  for (const EmbeddedLesson& one : kLessons) {
    const auto lesson = find_lesson(one.name);
    ASSERT_TRUE(lesson);
    const auto opened = open_lesson(*lesson);
    ASSERT_TRUE(opened) << one.name << ": " << opened.error().message;
    EXPECT_EQ((*opened)->captions.size(), lesson->captions.size()) << one.name;
    Session session;
    session.open(*opened);
    session.state().now_ns = (*opened)->whole().end_ns;
    EXPECT_EQ(session.caption(), lesson->captions.back().text) << one.name;
    session.state().view = lesson->view;
    const Panel& panel = session.prepare({.width = 1000, .height = 600});
    EXPECT_GT(panel.picture.boxes.size() + panel.picture.strokes.size(), 5U) << one.name;
  }
}

TEST(Lessons, TheHangNamesItsCulprit) {
  const auto opened = open_lesson(*find_lesson("hang"));
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_FALSE((*opened)->findings.empty());
  EXPECT_EQ((*opened)->findings.front().weight, Finding::Weight::Fault);
  EXPECT_EQ((*opened)->findings.front().ranks, std::vector<int>{2});
}

}  // namespace
}  // namespace ringside::gui

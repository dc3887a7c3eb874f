#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gui/model/session/open.h"
#include "gui/model/session/session.h"
#include "gui/model/transfers.h"
#include "gui/model/views/chunk_history.h"

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

std::shared_ptr<const Document> lesson_run(std::string_view name, int ranks = 0) {
  auto lesson = find_lesson(name);
  EXPECT_TRUE(lesson);
  if (ranks > 0) {
    EXPECT_TRUE(set_numbers(*lesson, {.ranks = ranks}));
  }
  const auto opened = open_lesson(*lesson);
  EXPECT_TRUE(opened) << name << ": " << opened.error().message;
  return opened ? *opened : nullptr;
}

Panel shown(const std::shared_ptr<const Document>& document, View view, std::int64_t now_ns) {
  Session session;
  session.open(document);
  session.state().now_ns = now_ns;
  return session.prepare(view, {.width = 1000, .height = 600});
}

/// engine/collectives/ring.h states 2(n - 1) rounds, and n - 1 for half of the collective.
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
  EXPECT_EQ(rounds_of(simulated("nvls_tree", 16)), 2 + 2 * 1) << "heads of two nodes meet between";
  // With several chunks on several channels no share is taken for a result.
  EXPECT_EQ(rounds_of(lesson_run("nvls")), 2);
}

/// For every algorithm, at the end each rank holds what the collective promises, as the picture shows it.
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
    EXPECT_EQ(session.caption(), (*opened)->captions.back().text) << one.name;
    session.state().view = lesson->view;
    const Panel& panel = session.prepare({.width = 1000, .height = 600});
    EXPECT_GT(panel.picture.boxes.size() + panel.picture.strokes.size(), 5U) << one.name;
  }
}

/// The number of ends of the picture's arrows at a GPU.
struct Arrows {
  int all = 0, from_gpu_to_gpu = 0, to_switch = 0, from_switch = 0;
};

Arrows arrows_of(const Panel& panel) {
  const auto is_at_gpu = [&](float x, float y) {
    return std::ranges::any_of(panel.picture.discs, [&](const Disc& disc) {
      return disc.ink == Ink::Text && std::hypot(disc.x - x, disc.y - y) < disc.radius + 4;
    });
  };
  Arrows arrows;
  for (const Stroke& stroke : panel.picture.strokes) {
    if (!stroke.has_head) continue;
    const bool begins = is_at_gpu(stroke.x0, stroke.y0);
    const bool ends = is_at_gpu(stroke.x1, stroke.y1);
    ++arrows.all;
    arrows.from_gpu_to_gpu += begins && ends ? 1 : 0;
    arrows.to_switch += begins && !ends ? 1 : 0;
    arrows.from_switch += !begins && ends ? 1 : 0;
  }
  return arrows;
}

// The caption states that no rank passes on data of others: each sends to the switch and receives from it.
TEST(Lessons, ThePictureOfNvlsGoesToTheSwitchAndBack) {
  const auto document = lesson_run("nvls");
  const std::int64_t middle =
      document->calls.front().time.begin_ns / 2 + document->calls.front().time.end_ns / 2;
  const Panel panel = shown(document, View::Topology, middle);
  const Arrows arrows = arrows_of(panel);
  EXPECT_EQ(arrows.all, 16);
  EXPECT_EQ(arrows.from_gpu_to_gpu, 0);
  EXPECT_EQ(arrows.to_switch, 8);
  EXPECT_EQ(arrows.from_switch, 8);
  EXPECT_NE(panel.lines.front().find("to the switch and from it"), std::string::npos);
  // In a ring, they do go from one rank to the next.
  const auto ring = lesson_run("ring");
  const Arrows next = arrows_of(shown(ring, View::Topology, ring->whole().end_ns));
  EXPECT_EQ(next.all, 8);
  EXPECT_EQ(next.to_switch + next.from_switch, 0);
}

// Data that many ranks send into the switch leaves it once, and data that leaves it for many was sent once.
TEST(Lessons, LinksOfNvlsCarryTheBufferAndTheOwnPartOnceMore) {
  const auto document = lesson_run("nvls");
  const CallFacts& call = document->calls.front();
  const auto bytes = static_cast<double>(most_bytes_of_a_link(transfers_of(*document, call)));
  EXPECT_DOUBLE_EQ(bytes / static_cast<double>(call.bytes.value), 1 + 1.0 / 8)
      << "engine/collectives/nvls.h";
  const auto ring = lesson_run("ring");
  EXPECT_DOUBLE_EQ(
      static_cast<double>(most_bytes_of_a_link(transfers_of(*ring, ring->calls.front()))) /
          static_cast<double>(ring->calls.front().bytes.value),
      2 * 7 / 8.0)
      << "engine/collectives/ring.h";
}

// The counts come from the run, whichever numbers the user selects.
TEST(Lessons, CountsInCaptionsAreThoseOfTheRun) {
  for (const char* const name : {"ring", "nvls", "tree"}) {
    for (const int ranks : {0, 4, 16}) {
      if (ranks > 8 && name == std::string_view("nvls"))
        continue;  // nvls_tree is for several nodes
      const auto document = lesson_run(name, ranks);
      const std::string& last = document->captions.back().text;
      EXPECT_TRUE(last.starts_with(std::to_string(rounds_of(document)) + " rounds")) << last;
      EXPECT_NE(last.find(" " + std::to_string(document->calls.front().ranks) + " ranks"),
                std::string::npos)
          << last;
      for (const Caption& caption : document->captions)
        EXPECT_EQ(caption.text.find('{'), std::string::npos) << caption.text;
    }
  }
}

// n - 1 rounds of a ring have ended when the caption states it, and then each rank has one complete chunk.
TEST(Lessons, HalfARingsRoundsLeaveOneWholeChunkAtEachRank) {
  for (const int ranks : {4, 8}) {
    const auto document = lesson_run("ring", ranks);
    const auto half = std::ranges::find_if(document->captions, [](const Caption& caption) {
      return caption.text.find("one chunk with the input of all") != std::string::npos;
    });
    ASSERT_NE(half, document->captions.end());
    const auto history = ChunkHistory::make(*document, document->calls.front());
    ASSERT_TRUE(history);
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      int whole = 0;
      for (std::size_t chunk = 0; chunk < history->chunks().size(); ++chunk) {
        const auto holding = history->at(rank, chunk, half->from_ns);
        whole += holding.is_kept && holding.count() == ranks ? 1 : 0;
      }
      EXPECT_EQ(whole, 1) << ranks << " ranks, rank " << rank;
    }
  }
}

// A root of the tree has its sum when the caption states it, and no rank has one before.
TEST(Lessons, TheRootHasItsSumWhenTheCaptionStatesIt) {
  const auto document = lesson_run("tree");
  const auto said = std::ranges::find_if(document->captions, [](const Caption& caption) {
    return caption.text.find("root has its sum") != std::string::npos;
  });
  ASSERT_NE(said, document->captions.end());
  const auto history = ChunkHistory::make(*document, document->calls.front());
  ASSERT_TRUE(history);
  const auto whole_at = [&](std::int64_t now_ns) {
    int whole = 0;
    for (std::int32_t rank = 0; rank < history->ranks(); ++rank) {
      for (std::size_t chunk = 0; chunk < history->chunks().size(); ++chunk)
        whole += history->at(rank, chunk, now_ns).count() == 32 ? 1 : 0;
    }
    return whole;
  };
  EXPECT_GE(whole_at(said->from_ns), 1);
  EXPECT_EQ(whole_at(said->from_ns - 1), 0);
}

TEST(Lessons, AtTheEndNoMessageIsInFlight) {
  for (const EmbeddedLesson& one : kLessons) {
    const auto document = lesson_run(one.name);
    const Panel panel = shown(document, View::Topology, document->whole().end_ns);
    EXPECT_NE(panel.lines.front().find(" 0 chunks in flight"), std::string::npos)
        << one.name << ": " << panel.lines.front();
  }
}

// For a trace without its hosts the switch is drawn in the middle of its ranks.
TEST(Lessons, WithoutAMachineTheSwitchIsInTheMiddle) {
  const auto known = simulated("nvls", 4);
  Document unknown = *known;
  unknown.surround = {};
  const auto document = std::make_shared<const Document>(std::move(unknown));
  const CallFacts& call = document->calls.front();
  const Panel panel =
      shown(document, View::Topology, call.time.begin_ns / 2 + call.time.end_ns / 2);
  EXPECT_EQ(arrows_of(panel).from_gpu_to_gpu, 0);
  EXPECT_EQ(arrows_of(panel).to_switch, 4);
  EXPECT_EQ(std::ranges::count(panel.picture.words, "NVSwitch", &Words::text), 1);
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

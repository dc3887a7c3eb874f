#include "gui/model/kept.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>

#include "gui/model/session/session.h"
#include "tests/gui/many_documents.h"

namespace ringside::gui {
namespace {

/// Documents of two calls, one behind the other.
std::shared_ptr<const Document> two_calls() {
  std::vector<TraceEvent> events = regular_events(4, 2, 100);
  std::vector<TraceEvent> later = events;
  for (TraceEvent& event : later) {
    event.sequence = 1;
    event.begin_ns += 100'000;
    event.end_ns += 100'000;
  }
  events.insert(events.end(), later.begin(), later.end());
  return document_of(events);
}

std::counting_semaphore<> may_end(0);
std::atomic<int> times_made = 0;

/// Takes as long as the test requires.
std::uint32_t slow_sequence(const Document&, const CallFacts* const& call) {
  may_end.acquire();
  ++times_made;
  return call->sequence;
}

template <typename Made>
Made* wait_for(Kept<Made>& kept, const std::shared_ptr<const Document>& document, std::size_t at) {
  for (;;) {
    if (Made* const made = kept.of(document, &document->calls[at]); made != nullptr) return made;
    std::this_thread::yield();
  }
}

TEST(Kept, TheCallerContinuesWhileAWorkerComputes) {
  times_made = 0;
  const auto document = two_calls();
  ASSERT_EQ(document->calls.size(), 2U);
  Kept<std::uint32_t> kept(Making::InWorker, slow_sequence);
  EXPECT_EQ(kept.of(document, &document->calls[0]), nullptr);
  EXPECT_EQ(kept.of(document, &document->calls[0]), nullptr);
  // The data of the first call is not used for the second.
  EXPECT_EQ(kept.of(document, &document->calls[1]), nullptr);
  may_end.release(2);
  EXPECT_EQ(*wait_for(kept, document, 1), 1U);
  EXPECT_EQ(*kept.of(document, &document->calls[1]), 1U);
  EXPECT_EQ(times_made, 2);
}

// A closed file stays as long as a worker uses it, and no longer.
TEST(Kept, ADocumentGoesWhenItsWorkerIsDone) {
  auto document = two_calls();
  const std::weak_ptr<const Document> watched = document;
  Kept<std::uint32_t> kept(Making::InWorker, slow_sequence);
  EXPECT_EQ(kept.of(document, &document->calls[0]), nullptr);
  kept.forget();
  document.reset();
  EXPECT_FALSE(watched.expired());
  may_end.release();
  for (int i = 0; i < 1000 && !watched.expired(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(watched.expired());
}

TEST(Kept, NowItIsThereAtOnce) {
  const auto document = two_calls();
  Kept<std::uint32_t> kept(Making::Now, slow_sequence);
  may_end.release(2);
  EXPECT_EQ(*kept.of(document, &document->calls[1]), 1U);
  EXPECT_EQ(*kept.of(document, &document->calls[0]), 0U);
}

/// Returns the final content of a view, computed by a worker.
std::string shown_in_the_end(Session& session, View view, std::int64_t now_ns) {
  constexpr Canvas kCanvas{.width = 900, .height = 500};
  session.state().now_ns = now_ns;
  session.prepare(view, kCanvas);
  while (session.is_preparing()) {
    EXPECT_FALSE(to_text(session.prepare(view, kCanvas)).empty());
    std::this_thread::yield();
  }
  return to_text(session.prepare(view, kCanvas));
}

// Documents are opened and closed while workers use them.
TEST(Kept, AWorkerGivesTheSameResultAsADirectCall) {
  Session session(Making::InWorker);
  for (int round = 0; round < 3; ++round) {
    for (const AnyOpened& one : many_documents()) {
      const auto document = one.make();
      session.open(document);
      Session plain;
      plain.open(document);
      const std::int64_t middle =
          document->whole().begin_ns + (document->whole().end_ns - document->whole().begin_ns) / 2;
      for (const View view : {View::Chunks, View::Slots, View::Numbers, View::Topology}) {
        session.prepare(view, {.width = 900, .height = 500});
        if (round == 1) continue;
        plain.state().now_ns = middle;
        EXPECT_EQ(shown_in_the_end(session, view, middle),
                  to_text(plain.prepare(view, {.width = 900, .height = 500})))
            << one.name;
      }
    }
  }
}

}  // namespace
}  // namespace ringside::gui

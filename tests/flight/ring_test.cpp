#include "engine/flight/ring.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace ringside {
namespace {

FlightRing::Place place_of(std::uint32_t seq) { return {.seq = seq, .op_id = seq, .created = 1}; }

// A recording thread spins on the slot's lock; if it holds the loader's lock, dladdr() under the slot's never returns.
TEST(FlightRing, ACallIsRecordedWhileADumpConvertsTheEntryInItsSlot) {
  FlightSettings settings;
  settings.capacity = 1;
  FlightRing ring(settings);
  ring.fill(ring.take(1), {.input = 10, .output = 10}, place_of(1));
  std::future<void> recorded;
  FlightDump dump;
  dump.groups.emplace_back();
  ring.add_entries(dump, [&](std::uint32_t) -> FlightRing::GroupProgress {
    recorded = std::async(std::launch::async, [&ring] {
      ring.fill(ring.take(1), {.input = 20, .output = 20}, place_of(2));
    });
    EXPECT_EQ(recorded.wait_for(std::chrono::seconds(5)), std::future_status::ready);
    return {};
  });
  recorded.get();
  ASSERT_EQ(dump.entries.size(), 1U);
  EXPECT_EQ(dump.entries[0].call->input, std::vector<std::int64_t>{10});
  FlightDump later;
  later.groups.emplace_back();
  ring.add_entries(later, [](std::uint32_t) { return FlightRing::GroupProgress{}; });
  ASSERT_EQ(later.entries.size(), 1U);
  EXPECT_EQ(later.entries[0].call->input, std::vector<std::int64_t>{20});
}

}  // namespace
}  // namespace ringside

#include "diag/audit/call_list.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ringside::audit {
namespace {

bool is_same(const CallMark& a, const CallMark& b) {
  return a.signature == b.signature && a.part == b.part && a.op_count == b.op_count &&
         a.place == b.place;
}

/// Returns the calls of a job of 40 parts whose lines alternate: near and far ones, counters that step, jump and go
/// back, several files, and more kinds of calls than have a short number.
std::vector<CallMark> made_up_calls(std::size_t count) {
  std::minstd_rand random(7);
  std::vector<CallMark> calls;
  std::vector<std::uint32_t> counters(40);
  logs::Place place;
  for (std::size_t i = 0; i < count; ++i) {
    const auto speaker = static_cast<std::uint32_t>(random() % counters.size());
    place.line += static_cast<std::uint32_t>(i % 100 == 0 ? random() % 20'000 : 1);
    if (i % 5'000 == 4'999) place = {place.piece + 1, 0};
    std::uint32_t& counter = counters[speaker];
    counter = i % 997 == 0 ? static_cast<std::uint32_t>(random()) : counter + 1;
    // Beyond the range of a short one.
    const auto part = i % 1'003 == 0 ? 0xffffffU + speaker : speaker;
    calls.push_back({static_cast<std::uint32_t>(random() % 90'000), part, counter, place});
  }
  return calls;
}

CallList list_of(const std::vector<CallMark>& calls) {
  CallList list;
  std::vector<std::uint32_t> before(0x1000100);
  for (const CallMark& call : calls) {
    list.push_back(call, list.id_of(call.signature), before[call.part]);
  }
  return list;
}

void expect_calls(const CallList& list, const std::vector<CallMark>& calls) {
  ASSERT_EQ(list.size(), calls.size());
  std::size_t at = 0;
  std::size_t wrong = 0;
  list.for_each([&](const CallMark& call) {
    if (!is_same(call, calls[at++])) ++wrong;
  });
  EXPECT_EQ(at, calls.size());
  EXPECT_EQ(wrong, 0U);
}

TEST(CallList, ReturnsTheStoredCalls) {
  const std::vector<CallMark> calls = made_up_calls(200'000);
  expect_calls(list_of(calls), calls);
}

TEST(CallList, ACopyGrowsOnItsOwn) {
  std::vector<CallMark> calls = made_up_calls(20'000);
  const CallList list = list_of(calls);
  CallList copy(list);
  std::uint32_t before = 0;
  const CallMark more{5, 3, 17, {9, 1}};
  copy.push_back(more, copy.id_of(5), before);
  expect_calls(list, calls);
  calls.push_back(more);
  expect_calls(copy, calls);
}

}  // namespace
}  // namespace ringside::audit

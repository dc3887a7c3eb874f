// Tests ends on slots that a caller has lent to them. contract_test.cpp tests the promises of end.h for all ends.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "engine/transport/lent_slots.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

/// Memory that a medium of processors cannot read.
class FarRegion final : public SharedRegion {
 public:
  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] std::byte* data() const override { return nullptr; }
  [[nodiscard]] std::size_t size() const override { return 1 << 20; }
  [[nodiscard]] bool is_device() const override { return true; }

 private:
  const std::uint64_t id_ = fresh_region_id();
};

class LentEnds : public testing::TestWithParam<const Transport*> {
 protected:
  static constexpr Bytes kOdd = 1000_B;  ///< slots lie 1024 bytes apart

  const Transport& transport_ = *GetParam();
  const ConnectionShape shape_{Protocol::Simple, kOdd};

  static std::span<std::byte> slot(const LentUse& use, std::uint64_t count) {
    const std::size_t at = use.region->size() - LentSlots::memory_for(kOdd).value;
    return std::span(use.region->data() + at + count % kSlots * LentSlots::stride(kOdd),
                     kOdd.value);
  }
  static Bytes size_of_message(std::uint64_t count) { return Bytes{1000 - count * 7 % 900}; }

  /// Fills the slot for message `count` manually, and posts it.
  ///
  /// returns  false if the slot is not free
  static bool send(const Ends& ends, std::uint64_t count) {
    const auto room = ends.send->acquire();
    EXPECT_TRUE(room) << room.error().message;
    if (!room || room->empty()) return false;
    EXPECT_EQ(room->data(), slot(ends.send->lent(), count).data());
    std::memset(slot(ends.send->lent(), count).data(), static_cast<int>(count % 251 + 1),
                size_of_message(count).value);
    EXPECT_TRUE(ends.send->post(size_of_message(count)));
    return true;
  }
  static bool holds(std::span<const std::byte> message, std::uint64_t count) {
    return std::ranges::all_of(
        message, [&](std::byte byte) { return byte == static_cast<std::byte>(count % 251 + 1); });
  }
  template <typename Ask>
  static bool comes_true(const Ends& ends, Ask ask) {
    for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
      if (!ends.send->progress() || !ends.recv->progress()) return false;
      if (ask()) return true;
    }
    return false;
  }
};

TEST_P(LentEnds, MessagesFillTheLentSlotsInOrderOnBothSides) {
  const TwoRanks ranks(transport_, {.send = true, .recv = true});
  const Ends ends = ranks.connect(shape_);
  ASSERT_NE(ends.send->lent().region, nullptr);
  ASSERT_NE(ends.recv->lent().region, nullptr);
  EXPECT_FALSE(ends.send->lent().how.empty());
  std::uint64_t sent = 0, taken = 0;
  EXPECT_TRUE(comes_true(ends, [&] {
    if (sent < 100 && send(ends, sent)) ++sent;
    const auto message = ends.recv->peek();
    EXPECT_TRUE(message);
    if (!message || message->empty()) return false;
    EXPECT_EQ(message->data(), slot(ends.recv->lent(), taken).data());
    EXPECT_EQ(message->size(), size_of_message(taken).value);
    EXPECT_TRUE(holds(*message, taken));
    EXPECT_TRUE(ends.recv->release());
    return ++taken == 100;
  }));
}

// Imitates a kernel that lags behind: it gives no slot back before all of them are there.
TEST_P(LentEnds, SeveralMessagesMayArriveBeforeARelease) {
  const TwoRanks ranks(transport_, {.send = true, .recv = true});
  const Ends ends = ranks.connect(shape_);
  for (std::uint64_t i = 0; i < kSlots; ++i) ASSERT_TRUE(send(ends, i));
  ASSERT_TRUE(comes_true(ends, [&] { return ends.recv->arrived() == kSlots; }));
  for (std::uint64_t i = 0; i < kSlots; ++i) {
    EXPECT_TRUE(holds(slot(ends.recv->lent(), i).first(size_of_message(i).value), i)) << i;
  }
  // No further message arrives before one slot is returned: its slot holds unread data.
  std::uint64_t sent = kSlots;
  for (int i = 0; i < 1000; ++i) {
    if (sent < 2 * kSlots && send(ends, sent)) ++sent;
    ASSERT_TRUE(ends.recv->progress());
    ASSERT_EQ(ends.recv->arrived(), static_cast<std::uint64_t>(kSlots));
  }
  EXPECT_TRUE(holds(slot(ends.recv->lent(), 0).first(size_of_message(0).value), 0));
  for (std::uint64_t taken = 0; taken < 2 * kSlots; ++taken) {
    std::span<const std::byte> message;
    ASSERT_TRUE(comes_true(ends, [&] {
      if (sent < 2 * kSlots && send(ends, sent)) ++sent;
      message = *ends.recv->peek();
      return !message.empty();
    }));
    EXPECT_EQ(message.size(), size_of_message(taken).value);
    EXPECT_TRUE(holds(message, taken));
    ASSERT_TRUE(ends.recv->release());
  }
}

// More than fits between the two ends: some data are still in the sender's slots, and remain unchanged.
TEST_P(LentEnds, SlotsAreReadUntilTheyAreDone) {
  constexpr Bytes kLong = 1_MiB;
  const TwoRanks ranks(transport_, {.send = true, .recv = true});
  const Ends ends = ranks.connect({Protocol::Simple, kLong});
  const SharedRegion& slots = *ends.send->lent().region;
  std::byte* const first = slots.data() + slots.size() - LentSlots::memory_for(kLong).value;
  std::uint64_t posted = 0, written_over = 0;
  const auto write_over = [&] {
    ASSERT_LE(ends.send->done(), posted);
    for (; written_over < ends.send->done(); ++written_over) {
      std::memset(first + written_over % kSlots * kLong.value, 0xEE, kLong.value);
    }
  };
  for (std::uint64_t taken = 0; taken < 40;) {
    if (posted < 40) {
      const auto room = ends.send->acquire();
      ASSERT_TRUE(room);
      if (!room->empty()) {
        write_over();
        std::memset(room->data(), static_cast<int>(posted + 1), kLong.value);
        ASSERT_TRUE(ends.send->post(kLong));
        ++posted;
        continue;  // until there is no more room
      }
    }
    ASSERT_TRUE(ends.send->progress());
    write_over();
    const auto message = ends.recv->peek();
    ASSERT_TRUE(message) << message.error().message;
    if (message->empty()) continue;
    ASSERT_TRUE(holds(*message, taken)) << taken;
    ASSERT_TRUE(ends.recv->release());
    ++taken;
  }
}

TEST_P(LentEnds, SlotsThatAreDoneMayBeOverwritten) {
  const TwoRanks ranks(transport_, {.send = true, .recv = true});
  const Ends ends = ranks.connect(shape_);
  for (std::uint64_t round = 0; round < 20; ++round) {
    const std::uint64_t first = round * kSlots;
    for (std::uint64_t i = 0; i < kSlots; ++i) {
      ASSERT_TRUE(comes_true(ends, [&] { return send(ends, first + i); }));
    }
    ASSERT_TRUE(comes_true(ends, [&] { return ends.send->done() == first + kSlots; }));
    for (std::uint64_t i = 0; i < kSlots; ++i) {
      std::memset(slot(ends.send->lent(), i).data(), 0xEE, kOdd.value);
    }
    ASSERT_TRUE(comes_true(ends, [&] { return ends.recv->arrived() == first + kSlots; }));
    for (std::uint64_t i = first; i < first + kSlots; ++i) {
      const auto message = ends.recv->peek();
      ASSERT_TRUE(message && !message->empty());
      EXPECT_TRUE(holds(*message, i));
      ASSERT_TRUE(ends.recv->release());
    }
  }
}

// The other side has its own slots, or only that side has lent ones.
TEST_P(LentEnds, EachSideHasItsOwnLentSlots) {
  for (const Lending lending : {Lending{.send = true}, Lending{.recv = true}}) {
    const TwoRanks ranks(transport_, lending);
    const Ends ends = ranks.connect(shape_);
    EXPECT_EQ(ends.send->lent().region != nullptr, lending.send);
    EXPECT_EQ(ends.recv->lent().region != nullptr, lending.recv);
    std::vector<std::byte> message(kOdd.value), arrived(kOdd.value);
    for (std::size_t i = 0; i < 50; ++i) {
      std::ranges::fill(message, static_cast<std::byte>(i));
      EXPECT_TRUE(comes_true(ends, [&] { return *ends.send->send(message); }));
      EXPECT_TRUE(comes_true(ends, [&] { return *ends.recv->take(arrived); }));
      EXPECT_EQ(arrived, message);
    }
  }
}

TEST_P(LentEnds, TakeTheFirstOfferThatTheirMediumReaches) {
  const TwoRanks ranks(transport_);
  auto [dialled, accepted] = ranks.meet();
  const LentOffers offers{{std::make_shared<const FarRegion>(), 0}, slots_to_lend(kOdd)};
  Joint joint = ranks.second().joint(transport_, ranks.first().whereabouts(), std::move(accepted),
                                     shape_, 0, in_20_s());
  joint.lent = offers;
  const auto recv = transport_.make_recv(std::move(joint));
  ASSERT_TRUE(recv) << recv.error().message;
  EXPECT_EQ((*recv)->lent().region, offers[1].region.get());
  joint = ranks.first().joint(transport_, ranks.second().whereabouts(), std::move(dialled), shape_,
                              0, in_20_s());
  joint.lent = {offers[0]};
  const auto send = transport_.make_send(std::move(joint));
  ASSERT_TRUE(send) << send.error().message;
  EXPECT_EQ((*send)->lent().region, nullptr);
}

TEST_P(LentEnds, LinesAreMadeByTheEndsThemselves) {
  const TwoRanks ranks(transport_, {.send = true, .recv = true});
  const Ends ends = ranks.connect({Protocol::LL, kOdd});
  EXPECT_EQ(ends.send->lent().region, nullptr);
  EXPECT_EQ(ends.recv->lent().region, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Table, LentEnds, testing::ValuesIn(lending_transports()),
                         [](const auto& test) { return name_of(test); });

}  // namespace
}  // namespace ringside

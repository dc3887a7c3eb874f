// Tests the behaviour that the fifos of all three protocols share.

#include <gtest/gtest.h>

#include <vector>

#include "engine/protocol/line_fifo.h"
#include "engine/protocol/ll.h"
#include "engine/protocol/ll128.h"
#include "engine/protocol/slot_fifo.h"
#include "tests/protocol/fifo_memory.h"

namespace ringside {
namespace {

constexpr Bytes kSlot = 512_B;

template <typename Fifo>
class AnyFifo : public testing::Test {
 protected:
  FifoMemory memory_ = zeroed_memory(Fifo::memory_for(kSlot));
  Fifo sender_{memory_.get(), kSlot};
  Fifo receiver_{memory_.get(), kSlot};
};

using Fifos = testing::Types<SlotFifo, LineFifo<Ll>, LineFifo<Ll128>>;
struct FifoName {
  template <typename Fifo>
  static std::string GetName(int) {
    return to_string(Fifo::kProtocol);
  }
};
TYPED_TEST_SUITE(AnyFifo, Fifos, FifoName);

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(seed * 31 + i * 7 + 1);
  return bytes;
}

TYPED_TEST(AnyFifo, HoldsEightSlotsAndNotANinth) {
  EXPECT_TRUE(this->receiver_.peek()->empty());
  for (unsigned i = 0; i < 8; ++i) {
    const auto slot = this->sender_.acquire();
    ASSERT_EQ(slot.size(), kSlot.value);
    slot[0] = static_cast<std::byte>(i);
    this->sender_.post(1_B);
  }
  EXPECT_TRUE(this->sender_.acquire().empty());
  EXPECT_FALSE(this->sender_.send(pattern(1, 0)));
  for (unsigned i = 0; i < 8; ++i) {
    const auto slot = this->receiver_.peek();
    ASSERT_TRUE(slot);
    ASSERT_EQ(slot->size(), 1U);
    EXPECT_EQ((*slot)[0], static_cast<std::byte>(i));
    this->receiver_.release();
    EXPECT_FALSE(this->sender_.acquire().empty());
  }
  EXPECT_TRUE(this->receiver_.peek()->empty());
}

// Lines hold 4, 28 (LL's first cache line), 112 and 120 bytes (LL128's): every size passes every edge.
TYPED_TEST(AnyFifo, EverySizeArrivesAsItWasSentByEitherWay) {
  for (std::size_t size = 1; size <= kSlot.value; ++size) {
    const auto sent = pattern(size, static_cast<unsigned>(size));
    std::vector<std::byte> got(size);
    if (size % 2 == 0) {
      ASSERT_TRUE(this->sender_.send(sent));
      const auto arrived = this->receiver_.peek();
      ASSERT_TRUE(arrived);
      got.assign(arrived->begin(), arrived->end());
      this->receiver_.release();
    } else {
      std::ranges::copy(sent, this->sender_.acquire().begin());
      this->sender_.post(Bytes{size});
      const auto taken = this->receiver_.take(got);
      ASSERT_TRUE(taken && *taken);
    }
    ASSERT_EQ(got, sent) << size;
    EXPECT_FALSE(this->receiver_.has_arrived());
  }
}

TYPED_TEST(AnyFifo, AskingAgainGivesTheSameSlot) {
  ASSERT_TRUE(this->sender_.send(pattern(300, 1)));
  ASSERT_TRUE(this->sender_.send(pattern(5, 2)));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(this->receiver_.has_arrived());
    EXPECT_EQ(this->receiver_.peek()->size(), 300U);
  }
}

TYPED_TEST(AnyFifo, TakingAnotherSizeThanWasSentIsAnErrorThatNamesBoth) {
  ASSERT_TRUE(this->sender_.send(pattern(64, 1)));
  for (const std::size_t expected : {48U, 300U}) {
    std::vector<std::byte> to(expected);
    const auto taken = this->receiver_.take(to);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(taken.error().message.find("sent 64 bytes"), std::string::npos);
  }
}

TYPED_TEST(AnyFifo, ASizeThatNoSlotHasIsCorrupt) {
  // The slots are agreed to be smaller than this sender's; its lines lie in the first slot all the same.
  TypeParam larger(this->memory_.get(), kSlot);
  TypeParam smaller(this->memory_.get(), 64_B);
  ASSERT_TRUE(larger.send(pattern(65, 1)));
  for (int i = 0; i < 2; ++i) {
    const auto arrived = smaller.peek();
    ASSERT_FALSE(arrived);
    EXPECT_EQ(arrived.error().code, ErrorCode::Corrupt);
  }
}

}  // namespace
}  // namespace ringside

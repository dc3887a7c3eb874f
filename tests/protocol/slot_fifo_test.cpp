#include "engine/protocol/slot_fifo.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>

namespace ringside {
namespace {

struct AlignedFree {
  void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<std::byte[], AlignedFree>;

Memory make_memory(Bytes slot_size) {
  const std::size_t size = SlotFifo::memory_for(slot_size).value;
  Memory memory(new (std::align_val_t{64}) std::byte[size]);
  std::memset(memory.get(), 0, size);
  return memory;
}

TEST(SlotFifo, HoldsEightSlotsAndNotANinth) {
  const Memory memory = make_memory(64_B);
  SlotFifo sender(memory.get(), 64_B);
  SlotFifo receiver(memory.get(), 64_B);
  EXPECT_FALSE(receiver.can_receive());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(sender.can_send());
    sender.send_slot()[0] = static_cast<std::byte>(i);
    sender.post(1_B);
  }
  EXPECT_FALSE(sender.can_send());
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(receiver.can_receive());
    const auto slot = receiver.receive_slot();
    ASSERT_TRUE(slot);
    EXPECT_EQ(slot->size(), 1U);
    EXPECT_EQ((*slot)[0], static_cast<std::byte>(i));
    receiver.release();
    EXPECT_TRUE(sender.can_send());
  }
  EXPECT_FALSE(receiver.can_receive());
}

TEST(SlotFifo, ASizeThatNoSlotHasIsCorrupt) {
  const Memory memory = make_memory(64_B);
  SlotFifo sender(memory.get(), 64_B);
  SlotFifo receiver(memory.get(), 64_B);
  sender.post(65_B);
  ASSERT_TRUE(receiver.can_receive());
  EXPECT_EQ(receiver.receive_slot().error().code, ErrorCode::Corrupt);
}

// Two threads, every word of every slot checked: a missing release or acquire shows as a stale word
// here and as a race under the thread sanitizer.
TEST(SlotFifo, WordsArriveWholeAndInOrderBetweenTwoThreads) {
  constexpr std::uint64_t kPosts = 100'000;
  const Memory memory = make_memory(256_B);
  std::jthread sending([&] {
    SlotFifo sender(memory.get(), 256_B);
    for (std::uint64_t i = 0; i < kPosts; ++i) {
      while (!sender.can_send()) std::this_thread::yield();
      std::uint64_t words[32];
      std::fill(std::begin(words), std::end(words), i * 0x9E3779B97F4A7C15);
      std::memcpy(sender.send_slot().data(), words, sizeof words);
      sender.post(256_B);
    }
  });
  SlotFifo receiver(memory.get(), 256_B);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kPosts; ++i) {
    while (!receiver.can_receive()) std::this_thread::yield();
    std::uint64_t words[32];
    std::memcpy(words, receiver.receive_slot()->data(), sizeof words);
    for (const std::uint64_t word : words) wrong += word != i * 0x9E3779B97F4A7C15 ? 1U : 0U;
    receiver.release();
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace ringside

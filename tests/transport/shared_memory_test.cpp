#include "engine/transport/shm/shared_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "engine/transport/shm/shm.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/tcp.h"
#include "tests/transport/socket_pair.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

SharedMemory memory_of(Bytes size) {
  auto memory = SharedMemory::allocate(size);
  EXPECT_TRUE(memory) << memory.error().message;
  return *std::move(memory);
}

SharedSpan span_of(const std::byte* place) {
  const auto region = find_shared(place);
  return region ? SharedSpan{region.get(), static_cast<std::size_t>(place - region->data())}
                : SharedSpan{};
}

TEST(SharedMemory, IsFoundByEachOfItsBytesWhileItLives) {
  std::optional<SharedMemory> memory = memory_of(10'000_B);
  const std::optional<SharedMemory> other = memory_of(1_B);
  const std::byte* first = memory->data();
  EXPECT_EQ(find_shared(first)->data(), first);
  EXPECT_EQ(find_shared(first + 9'999)->data(), first);
  EXPECT_NE(find_shared(first)->id(), find_shared(other->data())->id());
  const auto after = find_shared(first + 10'000);
  EXPECT_TRUE(after == nullptr || after->data() == other->data());
  const int own = 0;
  EXPECT_EQ(find_shared(&own), nullptr);
  memory.reset();
  EXPECT_EQ(find_shared(first), nullptr);
  EXPECT_FALSE(SharedMemory::allocate(0_B));
}

// 900 TiB are more than any host has, and more than can be mapped where the check fails.
TEST(SharedMemory, RefusesMoreMemoryThanTheHostHas) {
  const auto memory = SharedMemory::allocate(Bytes{900ULL << 40});
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::System);
  EXPECT_EQ(memory.error().message.find("a shared buffer would take 900.0 TiB"), 0U)
      << memory.error().message;
}

/// Holds both ends of a connection in one process.
class References : public testing::Test {
 protected:
  void SetUp() override {
    auto [a, b] = socket_pair();
    const ConnectionShape shape{Protocol::Simple, kSlot};
    recv_ = *make_shm_recv_end({.peer = std::move(b), .shape = shape, .patience = in_20_s()});
    send_ = *make_shm_send_end({.peer = std::move(a), .shape = shape, .patience = in_20_s()});
  }

  std::unique_ptr<SendEnd> send_;
  std::unique_ptr<RecvEnd> recv_;
};

// The receiver has its own mapping of the same memory: data that one side writes, the other reads there.
TEST_F(References, LeadTheReceiverToTheSendersMemory) {
  const SharedMemory input = memory_of(64_KiB);
  const SharedMemory output = memory_of(64_KiB);
  ASSERT_TRUE(send_->reaches_memory());
  ASSERT_TRUE(*send_->refer(span_of(input.data() + 4096), span_of(output.data() + 100), 3000));
  EXPECT_FALSE(send_->is_drained());

  const auto arrived = recv_->peek();
  ASSERT_TRUE(arrived) << arrived.error().message;
  ASSERT_EQ(arrived->size(), 3000U);
  EXPECT_NE(arrived->data(), input.data() + 4096);
  input.data()[4096 + 2999] = std::byte{7};
  EXPECT_EQ(arrived->back(), std::byte{7});
  ASSERT_EQ(recv_->landing().size(), 3000U);
  recv_->landing()[0] = std::byte{9};
  EXPECT_EQ(output.data()[100], std::byte{9});
  ASSERT_TRUE(recv_->release());
  EXPECT_TRUE(send_->is_drained());
}

TEST_F(References, AreCopiedByTheRankThatTakesThem) {
  const SharedMemory input = memory_of(4_KiB);
  std::memset(input.data(), 5, 4096);
  ASSERT_TRUE(*send_->refer(span_of(input.data()), {}, 4096));
  std::vector<std::byte> taken(4096);
  ASSERT_TRUE(*recv_->take(taken));
  EXPECT_EQ(taken, std::vector<std::byte>(4096, std::byte{5}));
  EXPECT_TRUE(recv_->landing().empty());
}

TEST_F(References, BytesAndReferencesAndAnnouncementsKeepTheirOrder) {
  const SharedMemory input = memory_of(8_B);
  const std::vector<std::byte> bytes(8, std::byte{1});
  ASSERT_TRUE(*send_->send(bytes));
  ASSERT_TRUE(*send_->refer(span_of(input.data()), span_of(input.data()), 8));
  ASSERT_TRUE(*send_->announce(8));
  std::vector<std::byte> taken(8, std::byte{3});
  ASSERT_TRUE(*recv_->take(taken));
  EXPECT_EQ(taken.front(), std::byte{1});
  ASSERT_TRUE(*recv_->take(taken));
  EXPECT_EQ(taken.front(), std::byte{0});
  taken.front() = std::byte{4};
  const auto landed = recv_->peek();
  ASSERT_TRUE(landed);
  EXPECT_EQ(landed->data(), nullptr);
  EXPECT_EQ(landed->size(), 8U);
  EXPECT_TRUE(recv_->landing().empty());
  ASSERT_TRUE(*recv_->take(taken));
  EXPECT_EQ(taken.front(), std::byte{4});  // as it was
}

// More memories than a connection remembers, used in two rounds.
TEST_F(References, ResolvesReferencesToManyMemories) {
  std::vector<SharedMemory> memories;
  for (int i = 0; i < 40; ++i) {
    memories.push_back(memory_of(64_B));
    memories.back().data()[0] = static_cast<std::byte>(i);
  }
  for (std::size_t i = 0; i < 80; ++i) {
    const std::byte* data = memories[i % 40].data();
    ASSERT_TRUE(*send_->refer(span_of(data), span_of(memories[(i + 17) % 40].data()), 64));
    const auto arrived = recv_->peek();
    ASSERT_TRUE(arrived) << arrived.error().message;
    EXPECT_EQ(arrived->front(), static_cast<std::byte>(i % 40));
    EXPECT_EQ(recv_->landing().front(), static_cast<std::byte>((i + 17) % 40));
    ASSERT_TRUE(recv_->release());
  }
}

// The receiver maps 16 memories at most. The oldest one is still needed as data when a 17th one comes as the result.
TEST_F(References, ANewResultDoesNotReplaceTheDatasMemory) {
  std::vector<SharedMemory> memories;
  for (int i = 0; i < 17; ++i) {
    memories.push_back(memory_of(64_B));
    memories.back().data()[0] = static_cast<std::byte>(i);
  }
  for (std::size_t i = 0; i < 16; ++i) {
    ASSERT_TRUE(*send_->refer(span_of(memories[i].data()), {}, 64));
    ASSERT_TRUE(recv_->peek());
    ASSERT_TRUE(recv_->release());
  }
  ASSERT_TRUE(*send_->refer(span_of(memories[0].data()), span_of(memories[16].data()), 64));
  const auto arrived = recv_->peek();
  ASSERT_TRUE(arrived) << arrived.error().message;
  EXPECT_EQ(arrived->front(), std::byte{0});
  EXPECT_EQ(recv_->landing().front(), std::byte{16});
}

TEST_F(References, BeyondTheirMemoryAreRefused) {
  const SharedMemory input = memory_of(4_KiB);
  const auto region = find_shared(input.data());
  ASSERT_TRUE(*send_->refer({region.get(), 4000}, {}, 97));
  const auto arrived = recv_->peek();
  ASSERT_FALSE(arrived);
  EXPECT_EQ(arrived.error().code, ErrorCode::Corrupt);
}

TEST_F(References, TheEndOfTheSenderIsNoticed) {
  send_.reset();
  EXPECT_FALSE(recv_->check_peer());
}

TEST(ReferencesElsewhere, AreNotTaken) {
  auto [a, b] = socket_pair();
  const auto tcp = *make_tcp_send_end(
      {.peer = std::move(a), .shape = {Protocol::Simple, kSlot}, .patience = in_20_s()});
  EXPECT_FALSE(tcp->reaches_memory());
  EXPECT_EQ(tcp->refer({}, {}, 8).error().code, ErrorCode::Unsupported);
  EXPECT_EQ(tcp->announce(8).error().code, ErrorCode::Unsupported);
}

}  // namespace
}  // namespace ringside

// Tests every row of the table of transports for the promises of end.h.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/transport/shm/shared_memory.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

TEST(TransportTable, CanBeOpenedHere) {
  for (const Transport& transport : transports()) {
    const Status opened = can_be_opened(transport);
    if (!opened) GTEST_SKIP() << transport.name << " is not tested: " << opened.error().message;
  }
}

/// The last member says whether the slots of both ends are lent.
using ContractCase = std::tuple<const Transport*, Protocol, bool>;

std::string case_name(const testing::TestParamInfo<ContractCase>& test) {
  const auto [transport, protocol, lends] = test.param;
  return std::string(transport->name) + "_" + to_string(protocol) + (lends ? "_lent" : "");
}

/// Tests the behaviour of every transport, in every protocol.
class TransportContract : public testing::TestWithParam<ContractCase> {
 protected:
  const Transport& transport_ = *std::get<0>(GetParam());
  const ConnectionShape shape_{std::get<1>(GetParam()), kSlot};
  const bool lends_ = std::get<2>(GetParam());
  TwoRanks ranks_{transport_, {.send = lends_, .recv = lends_}};
  Ends ends_ = ranks_.connect(shape_);

  bool send_word(std::uint64_t word) {
    const auto slot = ends_.send->acquire();
    if (!slot || slot->empty()) return false;
    std::memcpy(slot->data(), &word, sizeof word);
    return static_cast<bool>(ends_.send->post(Bytes{sizeof word}));
  }

  /// Asks until the answer is yes: a medium may learn late that a slot is free.
  template <typename Ask>
  static bool comes_true(Ask ask) {
    for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
      if (ask()) return true;
    }
    return false;
  }

  /// Returns whether posted messages leave without an action of the receiver.
  [[nodiscard]] bool drains() const {
    for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
      if (ends_.send->is_drained()) return true;
      if (!ends_.send->progress()) return false;
    }
    return false;
  }

  /// Returns the oldest slot once it has arrived.
  Result<std::span<const std::byte>> next_slot() {
    for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
      if (ends_.send) RINGSIDE_TRY(ends_.send->progress());
      RINGSIDE_TRY(const std::span<const std::byte> slot, ends_.recv->peek());
      if (!slot.empty()) return slot;
    }
    return Error{ErrorCode::Timeout, "nothing has come"};
  }

  std::optional<std::uint64_t> take_word() {
    const auto slot = next_slot();
    if (!slot || slot->size() != sizeof(std::uint64_t)) return std::nullopt;
    std::uint64_t word = 0;
    std::memcpy(&word, slot->data(), sizeof word);
    EXPECT_TRUE(ends_.recv->release());
    return word;
  }

  /// Receives a message by the short path, once it has arrived.
  ///
  /// returns  false if none has arrived
  Result<bool> take(std::span<std::byte> to) {
    for (const Deadline deadline = in_20_s(); !has_passed(deadline);) {
      RINGSIDE_TRY(ends_.send->progress());
      RINGSIDE_TRY(const bool is_taken, ends_.recv->take(to));
      if (is_taken) return true;
    }
    return false;
  }
};

TEST_P(TransportContract, SlotsArriveInTheOrderTheyWerePosted) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(comes_true([&] { return send_word(4 * round + i); }));
    }
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(take_word(), 4 * round + i);
  }
  EXPECT_TRUE(drains());
}

// Messages of all lengths in random order, as many in flight as possible, half of them from the slot and half sent
// directly.
TEST_P(TransportContract, MessagesOfAllLengthsArriveWhole) {
  std::mt19937 random(20261120);
  std::deque<std::vector<std::byte>> on_the_way;
  int taken = 0;
  for (const Deadline deadline = in_20_s(); taken < 3000 && !has_passed(deadline);) {
    if (random() % 2 == 0) {
      const std::size_t length = random() % 3 == 0 ? kSlot.value : 1 + random() % kSlot.value;
      const std::vector<std::byte> message(length, static_cast<std::byte>(random()));
      if (random() % 2 == 0) {
        const auto sent = ends_.send->send(message);
        ASSERT_TRUE(sent) << sent.error().message;
        if (*sent) on_the_way.push_back(message);
      } else if (const auto slot = ends_.send->acquire(); slot && !slot->empty()) {
        std::ranges::copy(message, slot->begin());
        ASSERT_TRUE(ends_.send->post(Bytes{length}));
        on_the_way.push_back(message);
      }
    } else if (!on_the_way.empty()) {
      ASSERT_TRUE(ends_.send->progress());
      const auto arrived = ends_.recv->peek();
      ASSERT_TRUE(arrived) << arrived.error().message;
      if (arrived->empty()) continue;
      ASSERT_TRUE(std::ranges::equal(*arrived, on_the_way.front()));
      ASSERT_TRUE(ends_.recv->release());
      on_the_way.pop_front();
      ++taken;
    }
  }
  EXPECT_EQ(taken, 3000);
}

TEST_P(TransportContract, AnEmptyConnectionGivesAnEmptySlot) {
  const auto slot = ends_.recv->peek();
  ASSERT_TRUE(slot);
  EXPECT_TRUE(slot->empty());
}

TEST_P(TransportContract, EightSlotsFitWhileNoneIsTaken) {
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(send_word(i)) << i;
}

// A connection may hold more than 8 slots (a socket's buffer does), but not arbitrarily many.
TEST_P(TransportContract, ASenderWithoutAReceiverRunsOutOfSlots) {
  bool is_full = false;
  for (int i = 0; i < 10'000 && !is_full; ++i) {
    const auto slot = ends_.send->acquire();
    ASSERT_TRUE(slot);
    is_full = slot->empty();
    if (!is_full) {
      ASSERT_TRUE(ends_.send->post(kSlot));
    }
  }
  EXPECT_TRUE(is_full);
}

// There are more short messages than slots, and a receiver that looks late finds all at once.
TEST_P(TransportContract, ShortSlotsThatComeAtOnceStayInOrder) {
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 100 && send_word(sent); ++i) ++sent;
    const std::uint64_t leave = static_cast<std::uint64_t>(round % 5);
    for (; taken + leave < sent; ++taken) ASSERT_EQ(take_word(), taken);
  }
  // A medium may return slots four at a time.
  EXPECT_GE(sent, 200U);
}

// Received messages make room in a full connection, and none is lost or changes its place.
TEST_P(TransportContract, AFullConnectionContinuesWhenSlotsAreReleased) {
  std::uint64_t sent = 0;
  const auto post = [&] {
    const auto slot = ends_.send->acquire();
    if (!slot || slot->empty()) return false;
    std::memcpy(slot->data(), &sent, sizeof sent);
    ++sent;
    return static_cast<bool>(ends_.send->post(kSlot));
  };
  while (post()) {
  }
  const std::uint64_t all = sent + 100;
  const Deadline deadline = in_20_s();
  for (std::uint64_t taken = 0; taken < all && !has_passed(deadline);) {
    if (sent < all) post();
    ASSERT_TRUE(ends_.send->progress());
    const auto slot = ends_.recv->peek();
    ASSERT_TRUE(slot) << slot.error().message;
    if (slot->empty()) continue;
    std::uint64_t word = 0;
    std::memcpy(&word, slot->data(), sizeof word);
    ASSERT_EQ(word, taken++);
    ASSERT_TRUE(ends_.recv->release());
  }
  EXPECT_EQ(sent, all);
  EXPECT_TRUE(drains());
}

TEST_P(TransportContract, SizesOutsideTheSlotAreRefused) {
  ASSERT_TRUE(ends_.send->acquire());
  EXPECT_EQ(ends_.send->post(0_B).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(ends_.send->post(kSlot + 1_B).error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(ends_.recv->release().error().code, ErrorCode::InvalidArgument);
}

TEST_P(TransportContract, AbortFromAnotherThreadEndsBothSides) {
  std::thread([&] {
    ends_.send->abort();
    ends_.recv->abort();
  }).join();
  EXPECT_EQ(ends_.send->acquire().error().code, ErrorCode::Aborted);
  EXPECT_EQ(ends_.recv->peek().error().code, ErrorCode::Aborted);
}

// Sends 4 KiB in steps of 1 to 4096 bytes, by the long path and by the short one.
TEST_P(TransportContract, DirectlySentDataCanBeReceivedEitherWay) {
  std::vector<std::byte> sent(kSlot.value);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t size = 1; size <= kSlot.value; size = size * 2 + size % 3) {
    const std::span<const std::byte> bytes = std::span(sent).first(size);
    for (const bool takes : {false, true}) {
      ASSERT_TRUE(comes_true([&] {
        const Result<bool> posted = ends_.send->send(bytes);
        return posted && *posted;
      }));
      std::vector<std::byte> got(size);
      if (takes) {
        const Result<bool> taken = take(got);
        ASSERT_TRUE(taken && *taken);
      } else {
        const auto slot = next_slot();
        ASSERT_TRUE(slot) << slot.error().message;
        got.assign(slot->begin(), slot->end());
        ASSERT_TRUE(ends_.recv->release());
      }
      EXPECT_TRUE(std::ranges::equal(got, bytes));
    }
  }
  EXPECT_FALSE(*ends_.recv->take(sent));
}

TEST_P(TransportContract, TakingAnotherSizeThanWasSentIsAnErrorThatNamesBoth) {
  ASSERT_TRUE(send_word(7));
  std::vector<std::byte> to(12);
  const Result<bool> taken = take(to);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(taken.error().message.find("it sent 8 bytes where this rank expects 12"),
            std::string::npos);
}

/// Sends `message` in slots and receives it, both by the short path.
///
/// returns  the received data
std::vector<std::byte> carry(const Ends& ends, std::span<const std::byte> message) {
  std::vector<std::byte> arrived(message.size());
  std::size_t sent = 0;
  std::size_t taken = 0;
  const auto slot_at = [&](std::size_t at) {
    return std::min<std::size_t>(ends.send->slot_size().value, message.size() - at);
  };
  const Deadline deadline = in_20_s();
  while (taken < message.size() && !has_passed(deadline)) {
    if (sent < message.size()) {
      const Result<bool> moved = ends.send->send(message.subspan(sent, slot_at(sent)));
      EXPECT_TRUE(moved) << moved.error().message;
      if (moved && *moved) sent += slot_at(sent);
    } else {
      EXPECT_TRUE(ends.send->progress());
    }
    const Result<bool> moved = ends.recv->take(std::span(arrived).subspan(taken, slot_at(taken)));
    EXPECT_TRUE(moved) << moved.error().message;
    if (moved && *moved) taken += slot_at(taken);
  }
  return arrived;
}

// From 1 byte to 64 MiB; lines carry 4 and 120 bytes, slots 64 KiB.
TEST_P(TransportContract, MessagesOfOneByteTo64MiBArriveWhole) {
  const Ends ends = ranks_.connect({shape_.protocol, 64_KiB});
  std::vector<std::byte> bytes(64 << 20);
  std::uint32_t state = 12;
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>((state = state * 1664525 + 1013904223) >> 24);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4}, std::size_t{5}, std::size_t{112}, std::size_t{113},
        std::size_t{120}, std::size_t{4096}, std::size_t{65'535}, std::size_t{65'536},
        std::size_t{65'537}, std::size_t{1'000'003}, bytes.size()}) {
    const std::span<const std::byte> message = std::span(bytes).first(size);
    EXPECT_TRUE(std::ranges::equal(carry(ends, message), message)) << size;
  }
}

// Aborts from another thread after so many slots: in every state that a connection passes through.
TEST_P(TransportContract, AbortEndsATransferThatIsUnderWay) {
  for (const int slots : {0, 1, 7, 8, 9, 100}) {
    const Ends ends = ranks_.connect(shape_);
    std::atomic<int> moved{0};
    std::jthread aborting([&] {
      while (moved.load() < slots) std::this_thread::yield();
      ends.send->abort();
      ends.recv->abort();
    });
    const std::vector<std::byte> message(kSlot.value, std::byte{7});
    std::vector<std::byte> arrived(kSlot.value);
    ErrorCode of_send = ErrorCode::NotFound;
    ErrorCode of_recv = ErrorCode::NotFound;
    const Deadline deadline = in_20_s();
    while ((of_send == ErrorCode::NotFound || of_recv == ErrorCode::NotFound) &&
           !has_passed(deadline)) {
      const Result<bool> sent = ends.send->send(message);
      if (!sent) of_send = sent.error().code;
      const Result<bool> taken = ends.recv->take(arrived);
      if (!taken) of_recv = taken.error().code;
      if (taken && *taken) ++moved;
    }
    EXPECT_EQ(of_send, ErrorCode::Aborted) << slots;
    EXPECT_EQ(of_recv, ErrorCode::Aborted) << slots;
    EXPECT_EQ(end_of(*ends.send), ErrorCode::Aborted);
    EXPECT_EQ(end_of(*ends.recv), ErrorCode::Aborted);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, TransportContract,
                         testing::Combine(testing::ValuesIn(every_transport()),
                                          testing::Values(Protocol::Simple, Protocol::LL,
                                                          Protocol::LL128),
                                          testing::Values(false)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Lent, TransportContract,
                         testing::Combine(testing::ValuesIn(lending_transports()),
                                          testing::Values(Protocol::Simple), testing::Values(true)),
                         case_name);

/// Tests the behaviour of the transports that join two processes.
class TransportBetween : public TransportContract {};

TEST_P(TransportBetween, ReceivesDataPostedBeforeThePeerEnded) {
  ASSERT_TRUE(send_word(7));
  ends_.send.reset();
  EXPECT_EQ(take_word(), 7U);
  EXPECT_EQ(end_of(*ends_.recv), ErrorCode::PeerGone);
}

TEST_P(TransportBetween, TheSenderLearnsThatTheReceiverIsGone) {
  ends_.recv.reset();
  EXPECT_EQ(end_of(*ends_.send), ErrorCode::PeerGone);
}

TEST_P(TransportBetween, WholeSlotsCrossBetweenTwoThreads) {
  constexpr int kSlotsSent = 3000;
  std::jthread sending([&] {
    for (int i = 0; i < kSlotsSent;) {
      const auto slot = ends_.send->acquire();
      if (!slot) return;
      if (slot->empty()) {
        std::this_thread::yield();
        continue;
      }
      std::memset(slot->data(), i % 251, slot->size());
      if (!ends_.send->post(kSlot)) return;
      ++i;
    }
    while (!ends_.send->is_drained()) static_cast<void>(ends_.send->progress());
  });
  int wrong = 0;
  for (int i = 0; i < kSlotsSent;) {
    const auto slot = ends_.recv->peek();
    ASSERT_TRUE(slot);
    if (slot->empty()) {
      std::this_thread::yield();
      continue;
    }
    for (const std::byte byte : *slot) wrong += std::to_integer<int>(byte) != i % 251 ? 1 : 0;
    ASSERT_TRUE(ends_.recv->release());
    ++i;
  }
  EXPECT_EQ(wrong, 0);
}

/// Memory that no processor may read at its address, like a GPU's.
class MadeUpGpu final : public SharedRegion {
 public:
  /// file  the file as which its driver exports it; -1: none
  MadeUpGpu(std::uint64_t id, UniqueFd file, std::vector<std::byte> bytes)
      : id_(id), file_(std::move(file)), bytes_(std::move(bytes)) {
    address_ = ::mmap(nullptr, bytes_.size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(address_, MAP_FAILED);
  }
  ~MadeUpGpu() override { ::munmap(address_, bytes_.size()); }
  MadeUpGpu(const MadeUpGpu&) = delete;
  MadeUpGpu& operator=(const MadeUpGpu&) = delete;

  [[nodiscard]] std::uint64_t id() const override { return id_; }
  [[nodiscard]] int fd() const override { return file_ ? file_.get() : -1; }
  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(address_); }
  [[nodiscard]] std::size_t size() const override { return bytes_.size(); }
  [[nodiscard]] bool is_device() const override { return true; }
  void copy_out(std::size_t offset, std::span<std::byte> to) const override {
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
  }

 private:
  std::uint64_t id_;
  UniqueFd file_;
  std::vector<std::byte> bytes_;
  void* address_;
};

/// Returns files that hold `bytes`: one that is no dma-buf, and one that is where this kernel can make one (udmabuf).
std::vector<UniqueFd> files_of(std::span<const std::byte> bytes) {
  std::vector<UniqueFd> files;
  UniqueFd memory(::memfd_create("a GPU's", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::write(memory.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  ::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK);
  const UniqueFd maker(::open("/dev/udmabuf", O_RDWR | O_CLOEXEC));
  if (maker) {
    udmabuf_create request{static_cast<unsigned>(memory.get()), UDMABUF_FLAGS_CLOEXEC, 0,
                           bytes.size()};
    files.emplace_back(::ioctl(maker.get(), UDMABUF_CREATE, &request));
    EXPECT_TRUE(files.back());
  }
  files.push_back(std::move(memory));
  return files;
}

// Whether an adapter accepts a dma-buf depends on its driver (soft-RoCE's does not): the data arrive in either case.
TEST_P(TransportBetween, AGpusMemoryIsSentThroughTheHostsWhereTheAdapterDoesNotReachIt) {
  if (transport_.nccl_network != "IB" || shape_.protocol != Protocol::Simple || lends_) return;
  std::vector<std::byte> bytes(8192);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
  std::vector<UniqueFd> files = files_of(bytes);
  files.emplace_back();
  std::uint64_t id = ~std::uint64_t{0};  // SharedMemory's count from 1
  for (UniqueFd& file : files) {
    const auto gpu = std::make_shared<const MadeUpGpu>(id--, std::move(file), bytes);
    for (const std::size_t offset : {0U, 100U, 4096U}) {
      const auto sent = ends_.send->refer({gpu.get(), offset}, {}, 3000);
      ASSERT_TRUE(sent && *sent) << (sent ? "no slot" : sent.error().message);
      const auto slot = next_slot();
      ASSERT_TRUE(slot) << slot.error().message;
      EXPECT_TRUE(std::ranges::equal(*slot, std::span(bytes).subspan(offset, 3000)));
      ASSERT_TRUE(ends_.recv->release());
    }
    EXPECT_TRUE(drains());
  }
}

INSTANTIATE_TEST_SUITE_P(Table, TransportBetween,
                         testing::Combine(testing::ValuesIn(joining_transports()),
                                          testing::Values(Protocol::Simple, Protocol::LL,
                                                          Protocol::LL128),
                                          testing::Values(false)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Lent, TransportBetween,
                         testing::Combine(testing::ValuesIn(lending_transports()),
                                          testing::Values(Protocol::Simple), testing::Values(true)),
                         case_name);

}  // namespace
}  // namespace ringside

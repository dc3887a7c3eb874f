#include "engine/transport/shm/shm.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "engine/transport/socket/file_passing.h"
#include "engine/transport/socket/socket.h"
#include "tests/transport/socket_pair.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

TEST(ShmEnd, ARankWithAnotherProtocolLearnsBoth) {
  auto [a, b] = socket_pair();
  const auto recv = make_shm_recv_end(
      {.peer = std::move(b), .shape = {Protocol::LL128, kSlot}, .patience = in_20_s()});
  const auto send = make_shm_send_end(
      {.peer = std::move(a), .shape = {Protocol::LL, kSlot}, .patience = in_20_s()});
  ASSERT_FALSE(send);
  EXPECT_EQ(send.error().code, ErrorCode::InvalidArgument);
  EXPECT_EQ(send.error().message,
            "it has ll128 in slots of 4096 bytes where this rank has ll in slots of 4096 bytes");
}

TEST(ShmEnd, MemoryThatIsNotSealedIsRefused) {
  auto [a, b] = socket_pair();
  const UniqueFd zero(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(send_fd(b.get(), zero.get(), in_20_s()));
  const auto end = make_shm_send_end(
      {.peer = std::move(a), .shape = {Protocol::Simple, kSlot}, .patience = in_20_s()});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::Corrupt);
}

}  // namespace
}  // namespace ringside

#include "engine/transport/tcp/tcp.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "engine/protocol/wire_lines.h"
#include "engine/transport/socket/frame.h"
#include "tests/transport/socket_pair.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

/// A receiving end, and the socket that acts as its sender.
struct FakeSender {
  UniqueFd socket;
  std::unique_ptr<RecvEnd> end;

  explicit FakeSender(Protocol protocol) {
    auto [a, b] = socket_pair();
    socket = std::move(a);
    end = *make_tcp_recv_end(
        {.peer = std::move(b), .shape = {protocol, kSlot}, .patience = in_20_s()});
  }
  void send(std::span<const std::byte> bytes) const {
    EXPECT_EQ(::send(socket.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] ErrorCode error() const {
    const auto slot = end->peek();
    EXPECT_FALSE(slot);
    return slot ? ErrorCode::System : slot.error().code;
  }
};

TEST(TcpEnd, ASlotLongerThanAgreedIsRefusedBeforeItIsRead) {
  const FakeSender sender(Protocol::Simple);
  sender.send(preamble_of({Protocol::Simple, kSlot}));
  sender.send(frame_header(0xfffffff0));
  EXPECT_EQ(sender.error(), ErrorCode::Corrupt);
}

TEST(TcpEnd, ARankWithAnotherProtocolOrSlotSizeIsReported) {
  for (const ConnectionShape theirs :
       {ConnectionShape{Protocol::LL, kSlot}, ConnectionShape{Protocol::Simple, kSlot * 2}}) {
    const FakeSender sender(Protocol::Simple);
    sender.send(preamble_of(theirs));
    EXPECT_EQ(sender.error(), ErrorCode::InvalidArgument);
    EXPECT_EQ(sender.error(), ErrorCode::InvalidArgument);  // and it remains in that state
  }
}

TEST(TcpEnd, AWrongPreambleIsCorrupt) {
  for (const std::size_t wrong : {0U, 4U, 6U}) {
    const FakeSender sender(Protocol::Simple);
    auto preamble = preamble_of({Protocol::Simple, kSlot});
    preamble.at(wrong) = std::byte{9};
    sender.send(preamble);
    EXPECT_EQ(sender.error(), ErrorCode::Corrupt);
  }
}

// A step that comes twice: the second time its flags are one step behind.
TEST(TcpEnd, LinesOfAnotherStepAreCorrupt) {
  for (const Protocol protocol : {Protocol::LL, Protocol::LL128}) {
    const FakeSender sender(protocol);
    sender.send(preamble_of({protocol, kSlot}));
    const std::vector<std::byte> data(100, std::byte{5});
    std::vector<std::byte> wire(wire_size(protocol, Bytes{data.size()}).value);
    pack_wire(protocol, wire, data, 0);
    for (int twice = 0; twice < 2; ++twice) sender.send(make_frame(wire));
    ASSERT_EQ(sender.end->peek()->size(), data.size());
    ASSERT_TRUE(sender.end->release());
    const auto slot = sender.end->peek();
    ASSERT_FALSE(slot);
    EXPECT_EQ(slot.error().code, ErrorCode::Corrupt);
    EXPECT_NE(slot.error().message.find("line 0 of step 1 carries the flag 1 where 2 is due"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace ringside

#include "engine/debuglog/warning_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const NetInterface kPeer{"eth0", "10.1.0.2"};

TEST(WarningText, ACompletionWithErrorIsLoggedInFourWays) {
  const auto message = [](NcclVersion version) {
    return completion_warning(version, kPeer, 41234, 12, "mlx5_2").message;
  };
  EXPECT_EQ(message({9, 9}),
            "NET/IB : Got completion with error 12, opcode 1, len 0, vendor err 129");
  EXPECT_EQ(message({18, 5}),
            "NET/IB : Got completion from peer 10.1.0.2<41234> with error 12, opcode 1, len 0, "
            "vendor err 129 (Send)");
  EXPECT_EQ(
      message({22, 3}),
      "NET/IB : Got completion from peer 10.1.0.2<41234> with status=12 opcode=1 len=0 vendor "
      "err 129 (Send) hca mlx5_2");
  EXPECT_EQ(message({28, 9}),
            "NET/IB: Got completion from peer 10.1.0.2<41234> with "
            "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1) vendor_err=129 "
            "req_type=Send hca mlx5_2");
}

TEST(WarningText, ErrorsAreLoggedFromTheInnermostFunction) {
  DebugLog log{{18, 5}, {}, "n01", 411};
  write_warning(log, {980, 1}, duplicate_gpu_warning({18, 5}, 1, 0, 0x1b000));
  EXPECT_EQ(log.text(),
            "\nn01:411:980 [1] init.cc:943 NCCL WARN Duplicate GPU detected : rank 1 and rank 0 "
            "both on CUDA device 1b000\n"
            "n01:411:980 [1] NCCL INFO init.cc:1393 -> 5\n"
            "n01:411:980 [1] NCCL INFO init.cc:1548 -> 5\n"
            "n01:411:980 [1] NCCL INFO group.cc:64 -> 5 [Async thread]\n");
  EXPECT_THAT(duplicate_gpu_warning({30, 7}, 1, 0, 0).propagation[0],
              HasSubstr("init.cc:1393 (initTransportsRank) -> 5"));
}

TEST(WarningText, OtherVersionsAreComparedSince223) {
  EXPECT_EQ(other_version_warning({23, 4}, 0, {22, 3}, 8).message,
            "Mismatched NCCL version detected : rank 0 version 22304 rank 8 version 22203");
  EXPECT_THAT(other_version_warning({21, 5}, 0, {20, 5}, 8).message,
              HasSubstr("Message truncated : received "));
}

TEST(WarningText, ARefusedConnection) {
  const auto message = [](NcclVersion version) {
    return connect_warning(version, kPeer, 40117, "Connection refused").message;
  };
  EXPECT_EQ(message({9, 9}), "Connect to 10.1.0.2<40117> failed : Connection refused");
  EXPECT_EQ(message({12, 12}), "Net : Connect to 10.1.0.2<40117> failed : Connection refused");
  EXPECT_EQ(message({21, 5}),
            "socketStartConnect: Connect to 10.1.0.2<40117> failed : Connection refused");
  EXPECT_EQ(message({27, 7}),
            "socketPollConnect: connect to 10.1.0.2<40117> returned Connection refused, exceeded "
            "error retry count after 35 attempts");
}

TEST(WarningText, EventsOfAPort) {
  const auto message = [](NcclVersion version) {
    return async_event_warning(version, "mlx5_2", "port error").message;
  };
  EXPECT_EQ(message({19, 4}), "NET/IB : Got async event : port error");
  EXPECT_EQ(message({20, 5}), "NET/IB : mlx5_2:1 Got async event : port error");
  EXPECT_EQ(message({23, 4}), "NET/IB : mlx5_2:1 Got async error event: port error");
  EXPECT_EQ(message({28, 9}), "NET/IB : mlx5_2:1 Got non-fatal async event: port error(10)");
}

TEST(WarningText, AMulticastGroupThatCannotBeBound) {
  EXPECT_EQ(nvls_bind_warning({26, 6}).message,
            "Cuda failure 401 'the operation cannot be performed in the present state'");
  EXPECT_THAT(nvls_bind_warning({27, 7}).message,
              HasSubstr("Failed to bind NVLink SHARP (NVLS) Multicast memory of size "));
}

TEST(WarningText, SharedMemoryRunsOut) {
  EXPECT_EQ(shared_memory_warning({21, 5}, "/dev/shm/nccl-a1", 9637888).message,
            "Error: failed to extend /dev/shm/nccl-a1 to 9637888 bytes");
  EXPECT_EQ(shared_memory_warning({22, 3}, "/dev/shm/nccl-a1", 9637888).message,
            "Error: failed to extend /dev/shm/nccl-a1 to 9637888 bytes, error: No space left on "
            "device (28)");
}

TEST(WarningText, AResultNamesItsSourceLine) {
  const WarnPlace place{"misc/socket.cc", 58, "socketProgress"};
  EXPECT_EQ(result_text({29, 7}, place, 6), "misc/socket.cc:58 -> 6");
  EXPECT_EQ(result_text({30, 7}, place, 6), "misc/socket.cc:58 (socketProgress) -> 6");
}

}  // namespace
}  // namespace ringside

#include "engine/debuglog/start_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using testing::ElementsAre;

const NetInterface kEth0{"eth0", "10.1.0.1"};
const std::vector<Hca> kTwo{{.name = "mlx5_0", .index = 0}, {.name = "mlx5_1", .index = 1}};

TEST(StartText, ARingsideVersionReplacesNcclsCudaVersion) {
  EXPECT_EQ(stand_in_version_text({30, 7}, "ringside0.1.0"), "NCCL version 2.30.7+ringside0.1.0");
}

TEST(StartText, BootstrapLostABlankIn224) {
  EXPECT_EQ(bootstrap_text({23, 4}, kEth0), "Bootstrap : Using eth0:10.1.0.1<0>");
  EXPECT_EQ(bootstrap_text({24, 3}, kEth0), "Bootstrap: Using eth0:10.1.0.1<0>");
  EXPECT_EQ(bootstrap_text({7, 8}, kEth0), "Bootstrap : Using [0]eth0:10.1.0.1<0>");
}

TEST(StartText, TheVersionNamesItsCuda) {
  EXPECT_EQ(version_text({19, 3}), "NCCL version 2.19.3+cuda12.3");
  EXPECT_EQ(driver_text({12, 4}), "cudaDriverVersion 12040");
}

TEST(StartText, NumbersEndInAPeriodAndWordsDoNot) {
  EXPECT_EQ(env_echo_text({21, 5}, {"NCCL_MAX_NCHANNELS", "2", true}),
            "NCCL_MAX_NCHANNELS set by environment to 2.");
  EXPECT_EQ(env_echo_text({21, 5}, {"NCCL_ALGO", "Ring", false}),
            "NCCL_ALGO set by environment to Ring");
  EXPECT_EQ(env_echo_text({21, 5}, {"NCCL_IB_HCA", "=mlx5_0", false}),
            "NCCL_IB_HCA set to =mlx5_0");
}

TEST(StartText, P2pDisableIsALevelUntil222) {
  EXPECT_EQ(env_echo_text({22, 3}, {"NCCL_P2P_DISABLE", "1", true}),
            "NCCL_P2P_LEVEL set by environment to LOC");
  EXPECT_EQ(env_echo_text({23, 4}, {"NCCL_P2P_DISABLE", "1", true}),
            "NCCL_P2P_DISABLE set by environment to 1");
}

TEST(StartText, AMissingPluginIsLoggedInSixWays) {
  constexpr const char* kReason =
      "libnccl-net.so: cannot open shared object file: No such file or directory";
  EXPECT_THAT(no_net_plugin_text({16, 5}),
              ElementsAre("NET/Plugin : No plugin found (libnccl-net.so), using internal "
                          "implementation"));
  EXPECT_THAT(
      no_net_plugin_text({18, 5}),
      ElementsAre(std::string{"NET/Plugin : Plugin load (libnccl-net.so) returned 2 : "} + kReason,
                  "NET/Plugin : No plugin found, using internal implementation"));
  EXPECT_THAT(no_net_plugin_text({20, 5}),
              ElementsAre(std::string{"NET/Plugin : dlerror="} + kReason +
                          " No plugin found (libnccl-net.so), using internal implementation"));
  EXPECT_THAT(no_net_plugin_text({21, 5}),
              ElementsAre("NET/Plugin: No plugin found (libnccl-net.so)",
                          std::string{"NET/Plugin: Plugin load returned 2 : "} + kReason +
                              " : when loading libnccl-net.so",
                          "NET/Plugin: Using internal network plugin."));
  EXPECT_THAT(
      no_net_plugin_text({22, 3}),
      ElementsAre("NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin."));
  EXPECT_THAT(no_net_plugin_text({27, 7}),
              ElementsAre("NET/Plugin: Could not find: libnccl-net.so. "));
}

TEST(StartText, DevicesAreListedWithTheirLinkLayer) {
  EXPECT_EQ(ib_devices_text({18, 5}, kTwo, kEth0),
            "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.1.0.1<0>");
  std::vector<Hca> roce = kTwo;
  for (Hca& hca : roce) hca.is_ethernet = true;
  EXPECT_EQ(ib_devices_text({11, 4}, roce, kEth0),
            "NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/RoCE ; OOB eth0:10.1.0.1<0>");
  EXPECT_EQ(socket_interfaces_text(std::vector{kEth0, NetInterface{"eth1", "10.2.0.1"}}),
            "NET/Socket : Using [0]eth0:10.1.0.1<0> [1]eth1:10.2.0.1<0>");
}

TEST(StartText, From213OnGdrIsLoggedForEachDevice) {
  EXPECT_EQ(gdr_device_text({12, 12}, "IB", kTwo[1], false),
            "NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1' (no module)");
  EXPECT_EQ(gdr_device_text({13, 4}, "IB", kTwo[1], false),
            "NET/IB : GPU Direct RDMA Disabled for HCA 1 'mlx5_1'");
  EXPECT_EQ(gdr_device_text({27, 7}, "IB", kTwo[1], true),
            "NET/IB : GPU Direct RDMA Enabled for HCA 1 'mlx5_1'");
}

TEST(StartText, OfiNamesItsProvider) {
  EXPECT_THAT(ofi_text({22, 3}, {"efa", 32}),
              testing::Contains("NET/OFI Selected Provider is efa (found 32 nics)"));
  EXPECT_THAT(ofi_text({29, 7}, {"cxi", 4}),
              testing::Contains("NET/OFI Selected provider is cxi, fabric is cxi (found 4 nics)"));
  EXPECT_THAT(net_plugin_text({20, 5}, "AWS Libfabric"),
              testing::Contains("NET/Plugin: Loaded net plugin AWS Libfabric (v7)"));
}

}  // namespace
}  // namespace ringside

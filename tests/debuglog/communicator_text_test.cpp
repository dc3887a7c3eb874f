#include "engine/debuglog/communicator_text.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

const CommFacts kComm{.pointer = 0x55aa10,
                      .rank = 7,
                      .nranks = 16,
                      .cuda_dev = 7,
                      .nvml_dev = 7,
                      .bus_id = 0xdb000,
                      .id = 0x9f00c1d2e3f40516};

TEST(CommunicatorText, StartAndCompleteGrewByVersion) {
  EXPECT_EQ(init_complete_text({15, 5}, kComm),
            "comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 - Init COMPLETE");
  EXPECT_EQ(init_complete_text({16, 5}, kComm),
            "comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 commId 0x9f00c1d2e3f40516 - Init "
            "COMPLETE");
  EXPECT_EQ(init_start_text({18, 5}, kComm),
            "comm 0x55aa10 rank 7 nranks 16 cudaDev 7 nvmlDev 7 busId db000 commId "
            "0x9f00c1d2e3f40516 - Init START");
  EXPECT_EQ(
      init_start_text({21, 5}, kComm),
      "ncclCommInitRank comm 0x55aa10 rank 7 nranks 16 cudaDev 7 nvmlDev 7 busId db000 commId "
      "0x9f00c1d2e3f40516 - Init START");
  EXPECT_EQ(init_complete_text({23, 4}, kComm),
            "ncclCommInitRankConfig comm 0x55aa10 rank 7 nranks 16 cudaDev 7 nvmlDev 7 busId db000 "
            "commId 0x9f00c1d2e3f40516 - Init COMPLETE");
  EXPECT_EQ(init_start_text({29, 7}, kComm),
            "[Rank 7] ncclCommInitRankConfig comm 0x55aa10 rank 7 nranks 16 cudaDev 7 nvmlDev 7 "
            "busId db000 commId 0x9f00c1d2e3f40516 - Init START");
}

TEST(CommunicatorText, ARankWithoutAGpuNamesNone) {
  const CommFacts comm{.function = {},
                       .pointer = 0x55aa10,
                       .rank = 1,
                       .nranks = 4,
                       .cuda_dev = -1,
                       .nvml_dev = -1,
                       .bus_id = -1,
                       .id = 0x9f};
  EXPECT_EQ(init_start_text({30, 7}, comm),
            "[Rank 1] comm 0x55aa10 rank 1 nranks 4 commId 0x9f - Init START");
  EXPECT_EQ(init_complete_text({21, 5}, comm),
            "comm 0x55aa10 rank 1 nranks 4 commId 0x9f - Init COMPLETE");
  EXPECT_EQ(destroy_text({30, 7}, comm), "comm 0x55aa10 rank 1 nranks 4 - Destroy COMPLETE");
}

TEST(CommunicatorText, TheEndNamesTheCommunicatorSince231) {
  EXPECT_EQ(destroy_text({30, 7}, kComm),
            "comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 - Destroy COMPLETE");
  EXPECT_EQ(destroy_text({31, 2}, kComm),
            "comm 0x55aa10 rank 7 nranks 16 cudaDev 7 busId db000 commId 0x9f00c1d2e3f40516 - "
            "Destroy COMPLETE");
  EXPECT_EQ(destroy_start_text(kComm),
            "comm 0x55aa10 rank 7 nRanks 16 cudaDev 7 busId db000 commId 0x9f00c1d2e3f40516 - "
            "Destroy START");
}

TEST(CommunicatorText, HostsOfUnequalNumbersOfRanksHaveNoNumber) {
  EXPECT_EQ(symmetric_text(8, true),
            "symmetricSupport 1, cuMemEnable 1, globalGinSupport 0, cuMemGdrSupport 1, "
            "contiguousRanksPerHost 8, crossNicSupport 1");
  EXPECT_EQ(symmetric_text(0, false),
            "symmetricSupport 1, cuMemEnable 1, globalGinSupport 0, cuMemGdrSupport 1, "
            "contiguousRanksPerHost 2147483647, crossNicSupport 0");
}

TEST(CommunicatorText, TheCliqueNamesTheSizeOfItsDomainSince231) {
  EXPECT_EQ(mnnvl_text({30, 7}, 8, 3), "MNNVL 1 cliqueId 1 cliqueSize 8 cliqueRank 3");
  EXPECT_EQ(mnnvl_text({31, 2}, 8, 3),
            "MNNVL 1 cliqueId 1 cliqueSize 8 cliqueRank 3 nvlDomainSize 8");
}

TEST(CommunicatorText, TheNodesOfARank) {
  EXPECT_EQ(nodes_text(kComm, {.nnodes = 2, .local_ranks = 8, .local_rank = 7}),
            "comm 0x55aa10 rank 7 nRanks 16 nNodes 2 localRanks 8 localRank 7 MNNVL 0");
}

TEST(CommunicatorText, CountsNameMoreKindsByVersion) {
  const ChannelCounts counts{.coll = 16, .nvls = 0, .p2p = 16, .p2p_per_peer = 2};
  EXPECT_EQ(channel_counts_text({16, 5}, counts),
            "16 coll channels, 16 p2p channels, 2 p2p channels per peer");
  EXPECT_EQ(channel_counts_text({18, 5}, counts),
            "16 coll channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer");
  EXPECT_EQ(
      channel_counts_text({20, 5}, counts),
      "16 coll channels, 0 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels "
      "per peer");
  EXPECT_EQ(channel_counts_text({27, 7}, counts),
            "16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p "
            "channels per peer");
}

TEST(CommunicatorText, TimesNameTheFunctionSince223) {
  const InitTimes times{.total = 4.1,
                        .kernels = 0.3,
                        .alloc = 0.2,
                        .bootstrap = 2.9,
                        .allgathers = 0.1,
                        .topo = 0.4,
                        .graphs = 0,
                        .connections = 0.1,
                        .rest = 0.1};
  EXPECT_EQ(init_times_text({22, 3}, kComm, times),
            "Init timings: rank 7 nranks 16 total 4.10 (kernels 0.30, bootstrap 2.90, allgathers "
            "0.10, topo 0.40, graphs 0.00, connections 0.10, rest 0.10)");
  EXPECT_EQ(
      init_times_text({23, 4}, kComm, times),
      "Init timings - ncclCommInitRankConfig: rank 7 nranks 16 total 4.10 (kernels 0.30, "
      "alloc 0.20, bootstrap 2.90, allgathers 0.10, topo 0.40, graphs 0.00, connections 0.10, "
      "rest 0.10)");
}

TEST(CommunicatorText, ThresholdsOfTwoFormsOfCollNet) {
  EXPECT_EQ(thread_thresholds_text({12, 12}, {}), "threadThresholds 8/8/64 | 8/8/64 | 8/8/512");
  EXPECT_EQ(thread_thresholds_text({14, 3}, {}), "threadThresholds 8/8/64 | 8/8/64 | 512 | 512");
}

TEST(CommunicatorText, NvlsLogsItsChannelsFrom227To229) {
  EXPECT_EQ(nvls_support_text({18, 5}, 3, false, 16),
            "NVLS multicast support is not available on dev 3");
  EXPECT_EQ(nvls_support_text({26, 6}, 3, true, 16),
            "NVLS multicast support is available on dev 3");
  EXPECT_EQ(nvls_support_text({29, 7}, 3, true, 16),
            "NVLS multicast support is available on dev 3 (NVLS_NCHANNELS 16)");
  EXPECT_EQ(nvls_support_text({30, 7}, 3, true, 16),
            "NVLS multicast support is available on dev 3");
}

}  // namespace
}  // namespace ringside

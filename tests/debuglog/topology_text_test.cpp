#include "engine/debuglog/topology_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "engine/channels/job.h"
#include "engine/debuglog/operation_text.h"
#include "engine/topology/sources/load_hosts.h"

namespace ringside {
namespace {

using testing::Contains;
using testing::HasSubstr;

Job job_on(const std::string& preset, int nodes) {
  return *make_job(*load_hosts(preset, nodes, std::nullopt), {}, {});
}

TEST(PathNumber, ShiftedWithEachTypeThatCameIn) {
  struct Row {
    PathType type;
    int v7, v8, v12, v21, v26, v27;
  };
  for (const Row& row : {Row{PathType::Nvl, 1, 1, 1, 1, 1, 1}, Row{PathType::Pix, 2, 3, 3, 3, 4, 4},
                         Row{PathType::Pxb, 3, 4, 4, 4, 5, 5}, Row{PathType::Phb, 4, 5, 6, 6, 7, 8},
                         Row{PathType::Sys, 5, 6, 7, 7, 8, 9}}) {
    const std::string name = to_string(row.type);
    EXPECT_EQ(path_number({7, 8}, row.type), row.v7) << name;
    EXPECT_EQ(path_number({8, 4}, row.type), row.v8) << name;
    EXPECT_EQ(path_number({12, 12}, row.type), row.v12) << name;
    EXPECT_EQ(path_number({21, 5}, row.type), row.v21) << name;
    EXPECT_EQ(path_number({26, 6}, row.type), row.v26) << name;
    EXPECT_EQ(path_number({27, 7}, row.type), row.v27) << name;
  }
  EXPECT_EQ(path_number({12, 12}, PathType::Pxn), 5);
  EXPECT_EQ(path_number({26, 6}, PathType::Pxn), 6);
  EXPECT_EQ(path_number({27, 7}, PathType::Pxn), 7);
}

TEST(SystemText, IsATreeOfLinksAndTheirBandwidth) {
  const Job job = job_on("dgx-h100", 2);
  const auto old = system_text({21, 5}, job.systems[0], 0);
  EXPECT_EQ(old.front(), "=== System : maxBw 48.0 totalBw 370.8 ===");
  EXPECT_THAT(old, Contains("CPU/0 (1/1/3)"));
  EXPECT_THAT(old, Contains(HasSubstr("+ PCI[48.0] - GPU/1B000 (0)")));
  EXPECT_THAT(old, Contains(HasSubstr("+ NVL[370.8] - NVS/0")));
  EXPECT_THAT(old, Contains(std::string(42, '=')));
  const auto later = system_text({23, 4}, job.systems[0], 8);
  EXPECT_THAT(later, Contains(HasSubstr("+ PCI[48.0] - GPU/0-1b000 (8)")))
      << "ids with the host's number, ranks of the second node";
  EXPECT_THAT(system_text({13, 4}, job.systems[0], 0).front(), HasSubstr("maxWidth"));
}

// From a GPU over the NVSwitch to another are two links; to its NIC over the PCI switch, two.
TEST(SystemText, PathsCountTheLinksOnTheWay) {
  const Job job = job_on("dgx-h100", 2);
  const auto lines = system_text({21, 5}, job.systems[0], 0);
  EXPECT_THAT(lines, Contains(testing::AllOf(HasSubstr("GPU/1B000 :GPU/1B000 (0/5000.0/LOC) "),
                                             HasSubstr("GPU/43000 (2/370.8/NVL)"))));
}

TEST(GraphText, NamesPatternAndWays) {
  const Job job = job_on("dgx-h100", 2);
  const Graph& ring = job.reports[0].graphs[GraphId::Ring];
  const auto lines = graph_text({21, 5}, job.systems[0], ring, 0);
  EXPECT_EQ(lines[0],
            "Pattern 4, crossNic 2, nChannels 8, bw 48.000000/48.000000, type NVL/PIX, "
            "sameChannels 0");
  EXPECT_EQ(lines[1], " 0 : NET/0 GPU/0 GPU/7 GPU/6 GPU/5 GPU/4 GPU/3 GPU/2 GPU/1 NET/1");
  EXPECT_THAT(graph_text({13, 4}, job.systems[0], ring, 0)[0], HasSubstr("speed 48.0"));
  EXPECT_THAT(graph_text({27, 7}, job.systems[0], ring, 0)[1],
              HasSubstr(" 0 : NET/0-0 GPU/0-1b000 "));
}

TEST(GraphText, TakesRanksInAnyOrderOfTheGpus) {
  const Job job = job_on("dgx-h100", 2);
  System system = job.systems[0];
  std::swap(system.gpus[0].rank, system.gpus[1].rank);
  const auto lines = graph_text({21, 5}, system, job.reports[0].graphs[GraphId::Ring], 8);
  EXPECT_EQ(lines[1], " 0 : NET/0 GPU/9 GPU/15 GPU/14 GPU/13 GPU/12 GPU/11 GPU/10 GPU/8 NET/1");
  EXPECT_THAT(system_text({21, 5}, system, 8), Contains(HasSubstr("GPU/1B000 (9)")));
}

TEST(GdrPairText, NamesTheGpuByItsBusIdUntil223) {
  const GdrPair pair{.rank = 3, .bus_id = 0x1b000, .net_device = 2, .is_read = true};
  EXPECT_EQ(gdr_pair_text({20, 5}, pair),
            "GPU Direct RDMA Enabled for GPU 1b000 / HCA 2 (distance 3 <= 4), read 1");
  EXPECT_EQ(gdr_pair_text({24, 3}, pair),
            "GPU Direct RDMA Enabled for GPU 3 / HCA 2 (distance 3 <= 4), read 1");
  EXPECT_EQ(gdr_pair_text({26, 6}, pair),
            "GPU Direct RDMA Enabled for GPU 3 / HCA 2 (distance 4 <= 5), read 1 mode Default");
}

TEST(OperationText, CallsCountInHexadecimal) {
  EXPECT_EQ(call_text({.op_count = 31,
                       .send_buffer = 0x7f00,
                       .recv_buffer = 0x7f00,
                       .count = 1048576,
                       .type = DataType::Bfloat16,
                       .comm = 0x55aa10,
                       .nranks = 16,
                       .stream = 0x6600}),
            "AllReduce: opCount 1f sendbuff 0x7f00 recvbuff 0x7f00 count 1048576 datatype 9 op 0 "
            "root 0 comm 0x55aa10 [nranks=16] stream 0x6600");
}

TEST(OperationText, ChoicesAreNumbersUntil223) {
  TunedChoice choice;
  choice.algorithm = Algorithm::NvlsTree;
  choice.channels.last = 15;
  choice.prediction.time_us = 12.5F;
  EXPECT_EQ(choice_text({22, 3}, 2_MiB, choice), "2097152 Bytes -> Algo 5 proto 2 time 12.500000");
  EXPECT_EQ(choice_text({23, 4}, 2_MiB, choice),
            "AllReduce: 2097152 Bytes -> Algo 5 proto 2 time 12.500000");
  EXPECT_EQ(choice_text({24, 3}, 2_MiB, choice),
            "AllReduce: 2097152 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..15}");
  EXPECT_EQ(choice_text({31, 2}, 2_MiB, choice, 4),
            "AllReduce: 2097152 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..15} "
            "cgaClusterSize 4");
}

// source  docs/formats D.2
TEST(OperationText, From231OnTheBestTuningHasItsPredictedTime) {
  TunedChoice choice;
  choice.algorithm = Algorithm::Ring;
  choice.protocol = Protocol::LL;
  choice.max_channels = 24;
  choice.nthreads = 512;
  choice.prediction.time_us = 28.01F;
  EXPECT_THAT(
      best_tuning_text({.collective = Collective::AllReduce, .comm = 0x55aa10}, choice),
      testing::ElementsAre(
          testing::StartsWith("Input: { .comm = 0x55aa10, .tuningMask = 0x8, .func = AllReduce, "),
          testing::MatchesRegex(
              "Best tuning \\{ .id = 3, timeUs = 28.01.*,  .algo = RING, .proto = "
              "LL, .symKernelId = -1, nChannels = 24, nWarps = 16, forced = 0 \\}"),
          "Best tuning, algorithm, RING, protocol, LL"));
}

TEST(OperationText, TheTableHasBlocksOfThreeAlgorithmsSince223) {
  const Job job = job_on("dgx-h100", 1);
  const Tuner tuner = *Tuner::make(job.connection.shape, {}, "2.29");
  const auto blocks = tuning_table_text({29, 7}, tuner.table());
  // 7 algorithms are 3 blocks of 3 lines of header and 5 of collectives.
  EXPECT_EQ(blocks.size(), 3U * 8U);
  EXPECT_EQ(
      blocks[0],
      "  Algorithm   |                            Tree                  |                     "
      "       Ring                  |                   CollNetDirect                  |");
  EXPECT_THAT(blocks[2], testing::StartsWith(" Max NThreads |            512 |            640 |"));
  EXPECT_THAT(blocks[7], testing::StartsWith("    AllReduce |"));
  EXPECT_EQ(tuning_table_text({22, 3}, tuner.table()).size(), 8U);
}

// LL128 of rings that leave the switch of a GPU is refused; the table of 2.31 has its numbers, and no row of threads.
TEST(OperationText, TheTableShowsRefusedPairsSince231) {
  Job job = job_on("dgx-h100", 2);
  job.connection.shape.graphs[static_cast<std::size_t>(GraphId::Ring)].type_inter = PathType::Sys;
  const auto row = [&](NcclVersion version, std::string_view release) {
    const Tuner tuner = *Tuner::make(job.connection.shape, {}, release);
    return tuning_table_text(version, tuner.table()).at(version.is_from(31) ? 6 : 7);
  };
  const std::string now = row({31, 2}, "2.31");
  EXPECT_THAT(now, testing::StartsWith("    AllReduce |"));
  EXPECT_THAT(row({30, 7}, "2.30"), testing::HasSubstr("     0.0/   0.0 |   131.6/ 204.8 |"));
  EXPECT_THAT(now, testing::HasSubstr("    75.2/ 156.6 |   131.6/ 204.8 |    -1.0/  -1.0 |"));
}

}  // namespace
}  // namespace ringside

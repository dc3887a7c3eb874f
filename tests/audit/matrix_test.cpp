#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/audit/audit.h"
#include "diag/report/audit_report.h"

// These tests read the output of nvidia-smi topo -m that was pasted into a log.

namespace ringside::audit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<LinkMatrix> matrices_of(const std::string& text) {
  return audit_text(text).facts.matrices;
}

TEST(LinkMatrices, HaveTheLegendsNamesOfNics) {
  const auto all = matrices_of(
      "\t\x1b[4mGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
      "GPU0\t X \tNV18\tPIX\tSYS\t0-55\t0\t\tN/A\n"
      "GPU1\tNV18\t X \tSYS\tPIX\t56-111\t1\t\tN/A\n"
      "NIC0\tPIX\tSYS\t X \tSYS\t\t\t\t\n"
      "NIC1\tSYS\tPIX\tSYS\t X \t\t\t\t\n"
      "\nLegend:\n\n  X    = Self\n  PIX  = at most a single PCIe bridge\n"
      "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_3\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].columns, ElementsAre("GPU0", "GPU1", "mlx5_0", "mlx5_3"));
  EXPECT_EQ(all[0].gpus, 2U);
  EXPECT_EQ(all[0].rows.size(), 4U);
  EXPECT_EQ(to_string(all[0].between_gpus()), "NV18");
  EXPECT_EQ(to_string(all[0].to_nearest_nic()), "PIX");
  EXPECT_TRUE(all[0].unlinked_gpus().empty());
}

TEST(LinkMatrices, ReadsNicsInTheHeadingOfOlderDrivers) {
  const auto all = matrices_of(
      "        GPU0    GPU1    mlx5_0  CPU Affinity\n"
      "GPU0     X      SOC     PHB     0-13\n"
      "GPU1    SOC      X      SOC     14-27\n"
      "mlx5_0  PHB     SOC      X\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].nics(), 1U);
  EXPECT_EQ(to_string(all[0].between_gpus()), "SYS");
  EXPECT_THAT(all[0].unlinked_gpus(), ElementsAre("GPU0", "GPU1"));
}

TEST(LinkMatrices, LeaveOutRowsThatAreCut) {
  const auto all = matrices_of(
      "\tGPU0\tGPU1\tGPU2\tCPU Affinity\n"
      "GPU0\t X \tNV12\tNV12\t0-31\n"
      "GPU1\tNV12\t X \n"
      "GPU2\tNV12\tNVx\t X \t0-31\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].linked_gpus(), ElementsAre("GPU0"));
}

TEST(LinkMatrices, ReadsTwoMatricesThatFollowHostNames) {
  std::string text;
  for (const char* line :
       {"\tGPU0\tGPU1\tCPU Affinity\n", "GPU0\t X \tNV4\t0-31\n", "GPU1\tNV4\t X \t0-31\n"}) {
    text += std::string("[1,0]<stdout>:") + line + "[1,8]<stdout>:" + line;
  }
  const auto all = matrices_of(text);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].rows.size(), 2U);
  EXPECT_EQ(all[1].rows.size(), 2U);
}

TEST(LinkMatrices, AreShownAmongTheFacts) {
  const Audit audit = audit_text(
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\n"
      "GPU0\t X \tNV4\tPXB\t0-31\n"
      "GPU1\tNV4\t X \tSYS\t0-31\n"
      "mlx5_0\tPXB\tSYS\t X \n");
  EXPECT_THAT(facts_text(audit, {}),
              HasSubstr("nvidia-smi topo -m: 2 GPUs, NV4 between them; 1 NIC, the nearest by "));
}

TEST(LinkMatrices, OtherTextIsNotAMatrix) {
  EXPECT_TRUE(matrices_of("GPU0 GPU1 busy\nGPU0: 93%\nGPU0 memory 71%\n").empty());
}

}  // namespace
}  // namespace ringside::audit

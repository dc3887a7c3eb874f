#include "diag/audit/gpu_names.h"

#include <gtest/gtest.h>

#include <array>

namespace ringside::audit {
namespace {

TEST(GpuNames, AWordIsNoPartOfALongerOne) {
  EXPECT_TRUE(names_gpu("NVIDIA A40", "A40"));
  EXPECT_TRUE(names_gpu("GPU 0: NVIDIA A40-48Q (UUID: GPU-aa)", "A40"));
  EXPECT_FALSE(names_gpu("NVIDIA RTX A4000", "A40"));
  EXPECT_FALSE(names_gpu("NVIDIA A30X", "A30"));
  EXPECT_FALSE(names_gpu("NVIDIA GB200", "B200"));
  EXPECT_FALSE(names_gpu("NVIDIA H200", "H20"));
}

TEST(GpuNames, SeveralWordsFollowOneAnother) {
  EXPECT_TRUE(names_gpu("NVIDIA H100 80GB HBM3", "H100 80GB HBM3"));
  EXPECT_FALSE(names_gpu("NVIDIA H100 PCIe 80GB HBM3", "H100 80GB HBM3"));
  EXPECT_FALSE(names_gpu("NVIDIA H100", "H100 80GB"));
  EXPECT_FALSE(names_gpu("", "H100"));
}

TEST(GpuNames, AStarLetsTheLastWordContinue) {
  EXPECT_TRUE(names_gpu("NVIDIA A100-SXM4-80GB", "SXM*"));
  EXPECT_TRUE(names_gpu("Tesla V100-SXM...", "SXM*"));  // as nvidia-smi cuts a name
  EXPECT_TRUE(names_gpu("Tesla P100-PCIE-16GB", "Tesla P*"));
  EXPECT_FALSE(names_gpu("NVIDIA A100-SXM4-80GB", "SXM"));
  EXPECT_FALSE(names_gpu("Tesla T4", "Tesla P*"));
  EXPECT_FALSE(names_gpu("Teslas P100", "Tesla P*"));
}

TEST(GpuNames, AnyOfSeveral) {
  constexpr std::array<std::string_view, 2> kNames{"L40*", "T4"};
  EXPECT_TRUE(names_any_gpu("NVIDIA L40S", kNames));
  EXPECT_TRUE(names_any_gpu("Tesla T4", kNames));
  EXPECT_FALSE(names_any_gpu("NVIDIA L4", kNames));
}

}  // namespace
}  // namespace ringside::audit

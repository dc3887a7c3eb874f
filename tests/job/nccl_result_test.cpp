#include "diag/job/nccl_result.h"

#include <gtest/gtest.h>

namespace ringside::job {
namespace {

TEST(NcclResult, HasTheHeadersNames) {
  EXPECT_EQ(nccl_result_text(1), "ncclUnhandledCudaError (1)");
  EXPECT_EQ(nccl_result_text(6), "ncclRemoteError (6)");
  EXPECT_EQ(nccl_result_text(8), "ncclTimeout (8)") << "new in 2.31";
  EXPECT_EQ(nccl_result_text(9), "ncclResult 9");
  EXPECT_EQ(nccl_result_text(-1), "ncclResult -1");
}

TEST(NcclResult, SuccessAndInProgressAreNotFailures) {
  for (const int code : {0, 7, -1}) EXPECT_FALSE(is_nccl_failure(code)) << code;
  for (const int code : {1, 2, 3, 4, 5, 6, 8, 9}) EXPECT_TRUE(is_nccl_failure(code)) << code;
}

}  // namespace
}  // namespace ringside::job

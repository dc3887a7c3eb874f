#include "base/vocabulary.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Vocabulary, NamesReadBack) {
  for (const std::string_view name : collective_names()) {
    const auto collective = parse_collective(name);
    ASSERT_TRUE(collective) << name;
    EXPECT_EQ(to_string(*collective), name);
  }
  EXPECT_EQ(*parse_data_type("float"), DataType::Float32);
  EXPECT_EQ(*parse_redop("sum"), RedOp::Sum);
  EXPECT_STREQ(to_string(Primitive::RecvReduceCopySend), "recv_reduce_copy_send");
}

TEST(Vocabulary, AlgorithmsAndProtocolsReadBackAndHaveNcclsNames) {
  for (const char* name :
       {"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"}) {
    const auto algorithm = parse_algorithm(name);
    ASSERT_TRUE(algorithm) << name;
    EXPECT_STREQ(to_string(*algorithm), name);
  }
  EXPECT_EQ(*parse_protocol("ll128"), Protocol::LL128);
  EXPECT_STREQ(nccl_name(Algorithm::NvlsTree), "NVLSTree");
  EXPECT_STREQ(nccl_name(Protocol::LL128), "LL128");
  EXPECT_STREQ(nccl_name(Collective::ReduceScatter), "ReduceScatter");
  EXPECT_FALSE(parse_protocol("ll64"));
}

// The indices that NCCL's plugins and its trace speak of.
TEST(Vocabulary, CollectivesHaveNcclsIndicesAndNames) {
  EXPECT_EQ(static_cast<int>(*parse_collective("send_recv")), 5);
  EXPECT_EQ(static_cast<int>(*parse_collective("all_to_all")), 8);
  EXPECT_EQ(static_cast<int>(*parse_collective("scatter")), 9);
  EXPECT_EQ(static_cast<int>(*parse_collective("gather")), 10);
  EXPECT_EQ(static_cast<int>(*parse_collective("all_gather_v")), 11);
  EXPECT_STREQ(nccl_name(Collective::AllToAll), "AlltoAll");
}

TEST(Vocabulary, AnUnknownWordGetsTheNearestOne) {
  const auto wrong = parse_collective("allreduce");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::InvalidArgument);
  EXPECT_NE(wrong.error().help.find("did you mean 'all_reduce'?"), std::string::npos);
}

// 4 ranks: all-reduce 2 * 3 / 4, all-gather 3 / 4, broadcast 1; a single rank carries nothing.
TEST(BusbwFactor, IsTheShareThatEachLinkCarries) {
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::AllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::AllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::ReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::AllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::Gather, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::Scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::AllGatherV, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::Broadcast, 4), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::SendRecv, 4), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::AllReduce, 1), 0);
}

}  // namespace
}  // namespace ringside

#include "diag/hangdetect/readers/op_name.h"

#include <gtest/gtest.h>

namespace ringside::hang {
namespace {

TEST(OpName, VariantsOfAllVersionsFoldOntoOneOp) {
  for (const char* name :
       {"nccl:_all_gather_base", "gloo:all_gather", "nccl:ALLGATHER_coalesced",
        "nccl:all_gather_into_tensor_coalesced", "AllGather", "_ALLGATHER_BASE"}) {
    EXPECT_EQ(parse_op(name).op, Op::AllGather) << name;
  }
  EXPECT_EQ(parse_op("nccl:all_reduce_barrier").op, Op::Barrier);
  EXPECT_EQ(parse_op("nccl:_reduce_scatter_base").op, Op::ReduceScatter);
  EXPECT_EQ(parse_op("nccl:_reduce_oop").op, Op::Reduce);
  EXPECT_EQ(parse_op("c10d:allreduce").op, Op::AllReduce);
  EXPECT_EQ(parse_op("nccl:new_window").op, Op::Other);
}

TEST(OpName, PeersAreGroupRanks) {
  const OpText send = parse_op("nccl:send 0->3");
  EXPECT_EQ(send.op, Op::Send);
  EXPECT_EQ(send.source, 0);
  EXPECT_EQ(send.target, 3);
  const OpText recv = parse_op("nccl:recv 3<-0");
  EXPECT_EQ(recv.op, Op::Recv);
  EXPECT_EQ(recv.source, 0);
  EXPECT_EQ(recv.target, 3);
  EXPECT_EQ(parse_op("nccl:recv 1<-?").source, -1);
}

}  // namespace
}  // namespace ringside::hang

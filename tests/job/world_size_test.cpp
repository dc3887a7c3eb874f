#include "diag/job/world_size.h"

#include <gtest/gtest.h>

#include <string>

#include "diag/logparse/parse_logs.h"

namespace ringside::job {
namespace {

int size_in(const std::string& text) {
  class Sink : public logs::RecordSink {
   public:
    void take(std::span<const logs::Record> records, const logs::SpeakerTable&) override {
      for (const logs::Record& record : records) size.take(record);
    }
    WorldSize size;
  } sink;
  logs::parse_text(text, sink);
  return sink.size.ranks();
}

TEST(WorldSize, TheSizeOfTheJobIsReadAndThatOfAGroupIsNot) {
  EXPECT_EQ(world_in("using world size: 16, data-parallel-size: 4"), 16);
  EXPECT_EQ(world_in("GLOBAL_RANK: 0, MEMBER: 1/8"), 8);
  EXPECT_EQ(world_in("tensor_model_parallel_world_size=4"), 0);
  EXPECT_EQ(world_in("LOCAL_WORLD_SIZE=8"), 0);
  EXPECT_EQ(world_in("world_size="), 0);
  EXPECT_EQ(world_in("world_size=99999999999999999999"), 0);
}

TEST(WorldSize, TheGroupsSizeMayPrecedeThatOfTheJob) {
  EXPECT_EQ(world_in("local_world_size=8 world_size=16"), 16);
}

TEST(WorldSize, ACommandStartsSoManyProcesses) {
  EXPECT_EQ(world_of_command("mpirun -np 3 ./halo"), 3);
  EXPECT_EQ(world_of_command("+ /usr/bin/srun -N2 -n4 --gpus 4 python t.py"), 4);
  EXPECT_EQ(world_of_command("mpirun --allow-run-as-root --mca btl tcp -H a:2,b:2 -n 4 ./a"), 4);
  EXPECT_EQ(world_of_command("torchrun --nproc_per_node=8 t.py"), 8);
  EXPECT_EQ(world_of_command("torchrun --standalone --nproc-per-node 4 t.py"), 4);
  EXPECT_EQ(world_of_command("torchrun --nnodes=2 --nproc_per_node=8 t.py"), 0);
  EXPECT_EQ(world_of_command("mpirun -np 99999999999 ./a"), 0);
  EXPECT_EQ(world_of_command("srun"), 0);
}

TEST(WorldSize, EachTaskOfALauncherMayStartTorchrun) {
  EXPECT_EQ(world_of_command("srun --ntasks=2 torchrun --nnodes=2 --nproc_per_node=8 t.py"), 16);
  EXPECT_EQ(world_of_command("srun --ntasks=2 --ntasks-per-node=1 bash -c 'torchrun --nnodes=$N "
                             "--nproc_per_node=8 t.py'"),
            16);
  EXPECT_EQ(world_of_command("mpirun -np 2 torchrun --nproc-per-node 4 t.py"), 8);
  EXPECT_EQ(world_of_command("srun --ntasks=1 torchrun --nproc_per_node=8 t.py"), 8);
  EXPECT_EQ(world_of_command("mpirun -np 2 torchrun t.py"), 2);
  EXPECT_EQ(world_of_command("srun --ntasks=2 torchrun --nnodes=4 --nproc_per_node=8 t.py"), 0);
  EXPECT_EQ(world_of_command("srun --ntasks=2 torchrun --nproc_per_node=gpu t.py"), 0);
}

TEST(WorldSize, OptionsOfTheProgramDoNotCount) {
  EXPECT_EQ(world_of_command("srun -N4 python t.py -n100"), 0);
  EXPECT_EQ(world_of_command("srun --exclusive ./solve -n100"), 0);
  EXPECT_EQ(world_of_command("mpirun --oversubscribe ./solve -n 100"), 0);
  EXPECT_EQ(world_of_command("mpirun -np 4 ./solve -n 100"), 4);
  EXPECT_EQ(world_of_command("torchrun --nproc_per_node=8 t.py --nproc_per_node=2"), 8);
}

TEST(WorldSize, ReadsItFromLinesOfTheStack) {
  EXPECT_EQ(
      size_in("n01:1:2 [0] NCCL INFO comm 0x55aa0 rank 3 nranks 16 cudaDev 0 busId 1b000 - Init "
              "COMPLETE\n"),
      16);
  EXPECT_EQ(size_in("torch.distributed.DistStoreError: Timed out after 601 seconds waiting for "
                    "clients. 7/8 clients joined.\n"),
            8);
}

TEST(WorldSize, RanksWithLogLinesDoNotCount) {
  EXPECT_EQ(size_in("[rank5]:[E612 08:15:40.101 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught "
                    "collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, "
                    "NumelIn=64, NumelOut=64, Timeout(ms)=600000) ran for 600010 milliseconds "
                    "before timing out.\n"),
            0);
}

TEST(WorldSizes, ABarrierOfTheStoreCountsThem) {
  EXPECT_EQ(world_in("Rank 2: Completed store-based barrier for key:store_based_barrier_key:1 with "
                     "4 nodes."),
            4);
}

}  // namespace
}  // namespace ringside::job

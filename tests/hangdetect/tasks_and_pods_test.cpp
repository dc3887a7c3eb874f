#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/diag/labelled_hangs.h"

// Tests the rank of a task, an actor, a pod or a GPU, in the words of JAX, Ray, Kubernetes and ROCm.

namespace ringside::hang {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Tasks, TasksWithoutHeartbeatsAreDead) {
  const Explanation listed = verdict_on(
      "absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n"
      "/job:jax_worker/replica:0/task:4\n/job:jax_worker/replica:0/task:5\nThe tasks have "
      "crashed.\n");
  EXPECT_EQ(listed.kind, Kind::DeadRank);
  EXPECT_THAT(listed.culprits, ElementsAre(4, 5));
  EXPECT_THAT(
      verdict_on("UNAVAILABLE: Task /job:jax_worker/replica:0/task:3 heartbeat timeout. This "
                 "indicates that the remote task has failed\n")
          .culprits,
      ElementsAre(3));
}

constexpr const char* kActors =
    "(TorchTrainer pid=7) - (node_id=a, ip=10.0.0.5, pid=44120) world_rank=0, local_rank=0\n"
    "(TorchTrainer pid=7) - (node_id=b, ip=10.0.0.6, pid=44120) world_rank=1, local_rank=0\n"
    "(TorchTrainer pid=7) - (node_id=b, ip=10.0.0.6, pid=44121) world_rank=2, local_rank=1\n";

TEST(RayLines, TheActorThatDiedIsTheRankOfItsProcess) {
  const Explanation died = verdict_on(
      std::string(kActors) +
      "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n"
      "\tclass_name: RayTrainWorker\n\tpid: 44121\n\tip: 10.0.0.6\n");
  EXPECT_EQ(died.kind, Kind::DeadRank);
  EXPECT_THAT(died.culprits, ElementsAre(2));
  const std::string killed =
      "A worker died or was killed while executing a task by an unexpected system error. Worker IP "
      "address: 10.0.0.5 Worker port: 1 Worker PID: 44120 Worker exit type: SYSTEM_ERROR\n";
  EXPECT_THAT(verdict_on(kActors + killed).culprits, ElementsAre(0))
      << "two hosts have a process of that number";
}

TEST(Pods, RanksAreCountedThroughThePodsOfTheJob) {
  const std::string rows =
      "NAME             READY   STATUS    RESTARTS   AGE\n"
      "ft-worker-0      1/1     Running   0          14m\n"
      "ft-worker-1      0/1     Pending   0          14m\n";
  EXPECT_THAT(verdict_on(rows).culprits, ElementsAre(1));
  EXPECT_THAT(verdict_on(rows + "world_size: 4\n").culprits, ElementsAre(2, 3));
  EXPECT_THAT(verdict_on(rows + "ft-master-0      1/1     Running   0          14m\n").culprits,
              ElementsAre(2))
      << "the master comes before the workers";
  EXPECT_THAT(verdict_on(rows + "ft-launcher-0    1/1     Running   0          14m\n").culprits,
              ElementsAre(1))
      << "a launcher is no rank";
}

constexpr const char* kGaveUp =
    "[rank0]:[E121 19:31:08.604117213 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught "
    "collective "
    "operation timeout: WorkNCCL(SeqNum=2452, OpType=ALLREDUCE, NumelIn=3, NumelOut=3, "
    "Timeout(ms)=600000) ran for 600057 milliseconds before timing out.\n";

TEST(Rocm, AHungGpuBelongsToTheRankThatReportsIt) {
  const std::string hang =
      "HW Exception by GPU node-7 (Agent handle: 0x55c1e0b2f4d0) reason :GPU Hang\n";
  const Explanation best = verdict_on("[default5]:" + hang + kGaveUp);
  EXPECT_EQ(best.kind, Kind::DeadRank);
  EXPECT_THAT(best.culprits, ElementsAre(5));
  EXPECT_THAT(verdict_on(hang + kGaveUp).culprits, IsEmpty());
  EXPECT_THAT(verdict_on("[rank3]: torch.OutOfMemoryError: HIP out of memory. Tried to allocate\n" +
                         std::string(kGaveUp))
                  .culprits,
              ElementsAre(3));
}

TEST(LostPaths, ExhaustedRetriesAreANetworkFailureWithoutACulprit) {
  for (const char* line : {"[c1:308:0:308] ib_mlx5_log.c:179  Transport retry count exceeded on "
                           "mlx5_0:1/RoCE (synd 0x15)",
                           "[n07:mpi_rank_31][handle_cqe] Msg from 12: wc.status=12 (transport "
                           "retry counter exceeded)",
                           "The InfiniBand retry count between two MPI processes has been"}) {
    const Explanation best = verdict_on(
        std::string(line) +
        "\nmpirun noticed that process rank 5 with PID 308 on node c1 exited on signal 6 "
        "(Aborted).\n");
    EXPECT_EQ(best.kind, Kind::NetworkStall) << line;
    EXPECT_THAT(best.culprits, IsEmpty()) << line;
  }
}

TEST(OtherSizes, AnUnexpectedMessageSizeShowsThatRanksDisagree) {
  for (const char* line :
       {"RuntimeError: [enforce fail at gloo/transport/tcp/pair.cc:453] op.preamble.length <= "
        "op.nbytes. 4096 vs 2048",
        "INTERNAL: RecvBufResponse returned 50176 bytes where to_tensor expected 100352",
        "[n01:1201] *** MPI_ERR_TRUNCATE: message truncated"}) {
    const Explanation best = verdict_on(std::string(line) + "\n");
    EXPECT_EQ(best.kind, Kind::ShapeMismatch) << line;
    EXPECT_THAT(best.culprits, IsEmpty()) << line;
  }
}

TEST(Raisers, ARankAtTheEndOfItsProgramIsAbsent) {
  const Explanation best = verdict_on(
      "[rank2]: Traceback (most recent call last):\n[rank2]:   File \"a.py\", line 6, in main\n"
      "[rank2]: KeyError: 'ids'\n" +
      std::string(kGaveUp) +
      "rank 2\n    join (threading.py:1096)\n    _shutdown (threading.py:1567)\n");
  EXPECT_EQ(best.kind, Kind::MissingRank);
  EXPECT_THAT(best.culprits, ElementsAre(2));
}

TEST(Tasks, MissingRanksOfABarrierAreCountedIfNoRankIsNamed) {
  const std::string barrier =
      "jaxlib.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. # of tasks that reached the "
      "barrier: 7/8.";
  const Explanation counted = verdict_on(barrier + "\n");
  EXPECT_EQ(counted.kind, Kind::MissingRank);
  EXPECT_THAT(counted.culprits, IsEmpty());
  EXPECT_THAT(
      verdict_on(barrier + " Some timed out task names:\n/job:jax_worker/replica:0/task:5\n")
          .culprits,
      ElementsAre(5));
}

TEST(Launchers, ComposersAndSageMakersLinesNameTheirRanks) {
  const Explanation crashed = verdict_on(
      "Global rank 0 (PID 4401) exited with code -15\nGlobal rank 5 (PID 4406) exited with code "
      "-9\n"
      "ERROR:composer.cli.launcher:Global rank 0 (PID 4401) exited with code -15\n");
  EXPECT_EQ(crashed.kind, Kind::DeadRank);
  EXPECT_THAT(crashed.culprits, ElementsAre(5));
  EXPECT_THAT(verdict_on("[1,mpirank:5,algo-1]<stderr>:Traceback (most recent call last):\n"
                         "[1,mpirank:5,algo-1]<stderr>:  File \"a.py\", line 6, in main\n"
                         "[1,mpirank:5,algo-1]<stderr>:KeyError: 'ids'\n" +
                         std::string(kGaveUp))
                  .culprits,
              ElementsAre(5));
}

std::string clocks(int gpus, int held) {
  std::string rows;
  for (int gpu = 0; gpu < gpus; ++gpu)
    rows += std::to_string(gpu) +
            (gpu == held ? ", 210 MHz, 92, Active\n" : ", 1410 MHz, 60, Not Active\n");
  return "torchrun train.py is slow\n" + rows;
}

TEST(Slow, ADetectorsRankAndAThrottledGpuOfOneHostAreStragglers) {
  const Explanation detected = verdict_on(
      "STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks: "
      "{StragglerId(rank=11, node='gpu-02')}\n");
  EXPECT_EQ(detected.kind, Kind::Straggler);
  EXPECT_THAT(detected.culprits, ElementsAre(11));
  const Explanation hot = verdict_on(clocks(8, 3));
  EXPECT_EQ(hot.kind, Kind::Straggler);
  EXPECT_THAT(hot.culprits, ElementsAre(3));
  EXPECT_THAT(verdict_on("world_size=64\n" + clocks(8, 3)).culprits, IsEmpty())
      << "nothing shows which host that is";
  EXPECT_NE(verdict_on(clocks(8, -1)).kind, Kind::Straggler);
}

}  // namespace
}  // namespace ringside::hang

#include "diag/logparse/source_text.h"

#include <gtest/gtest.h>

#include "diag/logparse/paste.h"

namespace ringside::logs {
namespace {

TEST(SourceText, ScriptsAndManifestsAreSource) {
  for (const std::string line :
       {"import torch.distributed as dist",
        "from torch import nn",
        "dist.all_reduce(x)",
        "dist.init_process_group(\"nccl\", timeout=timedelta(seconds=1800))",
        "def train(rank, world_size):",
        "if rank == 0:",
        "except RuntimeError as e:",
        "raise RuntimeError(f\"NCCL error on rank {rank}\") from e",
        "os.environ[\"TORCH_NCCL_ASYNC_ERROR_HANDLING\"] = \"1\"",
        "loss = model(batch)",
        ">>> torch.cuda.nccl.version()",
        "NCCLCHECK(ncclCommInitRank(&comm, n, id, rank));",
        "#include <nccl.h>",
        "ncclComm_t comms[2];",
        "return 0;",
        "int main(int argc, char** argv) {",
        "if (rc) { fprintf(stderr, \"NCCL error %s\", text); }",
        "- `NCCL_IB_DISABLE=1`: falls back to sockets if it fails",
        "srun --nodes=2 python train.py",
        "docker run --gpus all \\",
        "NCCL_DEBUG=INFO NCCL_P2P_DISABLE=1 torchrun --nproc_per_node 8 train.py",
        "ENV NCCL_SOCKET_IFNAME=eth0",
        "- name: NCCL_IB_DISABLE",
        "#SBATCH --nodes=4"}) {
    EXPECT_TRUE(is_source_line(line)) << line;
  }
}

TEST(SourceText, ProgramOutputIsNotSource) {
  for (const std::string line :
       {"n01:411:980 [3] NCCL INFO Bootstrap : Using eth0:10.1.0.2<0>",
        "RuntimeError: NCCL error: unhandled system error", "step 3 loss = 2.1 (lr 0.1)",
        "WorkNCCL(SeqNum=3, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000)",
        "all_reduce (torch/distributed/distributed_c10d.py:2501)", "import failed: no module",
        "Timeout at NCCL work: 3, last enqueued NCCL work: 3, last completed NCCL work: 2.",
        "srun: error: n01: task 3: Killed", "#0  0x00007f in poll () from /lib/libc.so.6",
        "[rank0]: dist.all_reduce(x)", "export NCCL_DEBUG=INFO",
        "Call to ibv_reg_mr failed with error Cannot allocate memory", "from 10.1.0.2 import died",
        "if you see this, call us:", "for (a) see above", "- `NCCL_IB_DISABLE=1`",
        "`NCCL WARN Cuda failure 'out of memory'`", "- rank 3: `KeyError: 'x'` was raised",
        "the connection to 10.1.0.2 was closed;"}) {
    EXPECT_FALSE(is_source_line(line)) << line;
  }
}

std::size_t gaps(std::string_view paste) {
  std::size_t count = 0;
  for (const RestoredLine& line : restore_paste(paste)) count += line.is_gap ? 1U : 0U;
  return count;
}

// A fence at each end of the block, and the four lines of it: the last but one is a comment among source.
TEST(SourceText, ABlockOfSourceIsSkippedCompletely) {
  EXPECT_EQ(gaps("```python\nimport torch\ndist.all_reduce(x)\n# Rank 3 failed to pass "
                 "monitoredBarrier in 30000 ms\nloss.backward()\n```\n[rank0]: step 1\n"),
            6U);
}

TEST(SourceText, TheLineThatATracebackQuotesStays) {
  EXPECT_EQ(gaps("  File \"train.py\", line 7, in main\n    dist.recv(x, src=3)\nValueError: y\n"),
            0U);
}

TEST(SourceText, SkipsRowsOfExplanationsAndKeepsRowsOfLogs) {
  EXPECT_EQ(gaps("| Variable | Description |\n|---|---|\n| `NCCL_IB_TIMEOUT` | error 12, retry "
                 "exceeded |\n| other | the watchdog timed out |\nafter\n"),
            2U);
  EXPECT_EQ(gaps("| node | line |\n|---|---|\n| n01 | NCCL WARN Cuda failure 'out of memory' |\n"
                 "| n02 | Watchdog caught collective operation timeout |\n"),
            0U);
}

TEST(SourceText, TextThatAProgramWouldPrintIsNotItsOutput) {
  EXPECT_TRUE(is_source_line("WARN(\"Connect to %s failed : %s\", line, strerror(errno));"));
  EXPECT_TRUE(is_source_line("WARN(\"NET/IB : Got completion from peer %s with status=%d\","));
  EXPECT_FALSE(is_source_line("Loading \"weights\": 100%done"));
  EXPECT_FALSE(is_source_line("NCCL WARN Connect to \"n1\" failed : 3 % of packets lost"));
}

std::vector<bool> sources(const std::vector<std::string>& lines) {
  return source_lines(lines, lines);
}

TEST(SourceText, PagesThatExplainMessagesAreNotLogs) {
  EXPECT_TRUE(
      is_source_line("When the job prints `NCCL WARN No route to host`, check the firewall."));
  EXPECT_TRUE(
      is_source_line("- If `NCCL WARN Cuda failure 'out of memory'` is in the log, halve it."));
  // A report of a person's own experience is not a page.
  EXPECT_FALSE(is_source_line("When I train on two nodes I get `NCCL WARN No route to host`"));
  EXPECT_EQ(sources({"| Message | Solution |", "|---|---|",
                     "| `NCCL WARN Cuda failure 'out of memory'` | a smaller batch |"})[2],
            true);
  EXPECT_EQ(sources({"If you see the following error:", "```",
                     "n01:411:980 [3] NCCL WARN Cuda failure 'out of memory'", "```",
                     "use a smaller batch"}),
            (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(sources({"I get this when I start it:", "```",
                     "n01:411:980 [3] NCCL WARN Cuda failure 'out of memory'", "```"})[2],
            false);
}

TEST(SourceText, PagesAndListsOfChangesAreNotLogs) {
  EXPECT_EQ(sources({"``unhandled system error``", "    Set ``NCCL_DEBUG=INFO`` and look."}),
            (std::vector<bool>{true, true}));
  EXPECT_EQ(sources({"- fix: \"NCCL WARN Duplicate GPU detected\" when LOCAL_RANK is unset"})[0],
            true);
  EXPECT_EQ(sources({"`NCCL WARN Duplicate GPU detected`"})[0], false);
  EXPECT_EQ(sources({"- NCCL WARN Duplicate GPU detected"})[0], false);
}

TEST(SourceText, ManifestsAreLogsOnlyWithAStatus) {
  const std::vector<std::string> manifest = {"apiVersion: v1", "kind: Pod",
                                             "spec:", "  image: x  # NCCL WARN Cuda failure"};
  EXPECT_EQ(sources(manifest), std::vector<bool>(4, true));
  std::vector<std::string> shown = manifest;
  shown.insert(shown.end(), {"status:", "  reason: OOMKilled"});
  EXPECT_EQ(sources(shown)[5], false);
}

TEST(SourceText, AScriptEndsWhereItsOutputBegins) {
  EXPECT_EQ(sources({"#!/bin/bash", "# avoids: NCCL WARN NET/IB : No device found.",
                     "echo \"CUDA error: out of memory\" >&2", "",
                     "n01:411:980 [3] NCCL WARN NET/IB : No device found.", "step 3"}),
            (std::vector<bool>{true, true, true, false, false, false}));
}

}  // namespace
}  // namespace ringside::logs

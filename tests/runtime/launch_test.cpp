#include "engine/runtime/bootstrap/launch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/environment_table.h"

namespace ringside {
namespace {

using testing::HasSubstr;
using Table = std::map<std::string, std::string>;

/// Returns "Open MPI 3/8 local 1/4", "no launcher", or "error: ...".
std::string launched(const Table& table) {
  const auto result = launch_from_environment(environment_of(table));
  if (!result) return "error: " + result.error().message;
  if (!*result) return "no launcher";
  const LaunchInfo& info = **result;
  const auto text = [](std::optional<int> value) { return value ? std::to_string(*value) : "?"; };
  return fmt::format("{} {}/{} local {}/{}", to_string(info.launcher), info.rank, info.nranks,
                     text(info.local_rank), text(info.local_ranks));
}

TEST(Launch, AnOrdinaryProcessHasNoLauncher) {
  EXPECT_EQ(launched({}), "no launcher");
  EXPECT_EQ(launched({{"HOME", "/root"}, {"MASTER_ADDR", "head"}}), "no launcher");
}

TEST(Launch, EachLaunchersVariablesAreRead) {
  EXPECT_EQ(
      launched(
          {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}}),
      "torchrun 3/8 local 1/2");
  EXPECT_EQ(launched({{"RANK", "3"}, {"WORLD_SIZE", "8"}}), "torchrun 3/8 local ?/?");
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_SIZE", "8"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}),
            "Open MPI 3/8 local 3/4");
  EXPECT_EQ(launched({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}}),
            "Hydra 0/2 local 0/?");
  EXPECT_EQ(launched({{"SLURM_STEP_ID", "0"},
                      {"SLURM_PROCID", "5"},
                      {"SLURM_NTASKS", "7"},
                      {"SLURM_LOCALID", "1"},
                      {"SLURM_NODEID", "2"},
                      {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"}}),
            "Slurm 5/7 local 1/2");
}

TEST(Launch, SrunThatSpeaksPmi2IsSlurmAndHydraBelowItIsNot) {
  // srun --mpi=pmi2 -n 4
  const Table srun{{"PMI_RANK", "2"},      {"PMI_SIZE", "4"},
                   {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "2"},
                   {"SLURM_NTASKS", "4"},  {"SLURM_LOCALID", "0"},
                   {"SLURM_NODEID", "1"},  {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
  EXPECT_EQ(launched(srun), "Slurm 2/4 local 0/2");
  // Hydra's mpiexec in a job of two nodes, where srun has started its proxies.
  Table hydra = srun;
  hydra["PMI_RANK"] = "5";
  hydra["PMI_SIZE"] = "8";
  hydra["SLURM_PROCID"] = "1";
  hydra["SLURM_NTASKS"] = "2";
  EXPECT_EQ(launched(hydra), "Hydra 5/8 local ?/?");
}

TEST(Launch, TheInnerLauncherCounts) {
  // mpirun -np 2 torchrun --nproc-per-node 4: eight ranks, of which Open MPI knows two.
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"RANK", "6"},
                      {"WORLD_SIZE", "8"}}),
            "torchrun 6/8 local ?/?");
}

TEST(Launch, AStepsOwnNumberOfTasksGoesBeforeTheAllocations) {
  EXPECT_EQ(launched({{"SLURM_STEP_ID", "1"},
                      {"SLURM_PROCID", "1"},
                      {"SLURM_NTASKS", "16"},
                      {"SLURM_STEP_NUM_TASKS", "4"}}),
            "Slurm 1/4 local ?/?");
}

TEST(Launch, ABatchScriptAndAnInteractiveShellAreNotRanks) {
  EXPECT_EQ(launched({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "16"}}), "no launcher");
  EXPECT_EQ(launched({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}),
            "no launcher");
}

TEST(Launch, HalfOfAPairIsAnError) {
  EXPECT_EQ(launched({{"RANK", "3"}}),
            "error: environment variable RANK is set, but WORLD_SIZE is not");
  EXPECT_EQ(launched({{"OMPI_COMM_WORLD_SIZE", "3"}}),
            "error: environment variable OMPI_COMM_WORLD_SIZE is set, but OMPI_COMM_WORLD_RANK is "
            "not");
}

TEST(Launch, RefusesInvalidAndContradictoryVariables) {
  EXPECT_EQ(launched({{"RANK", "x"}, {"WORLD_SIZE", "8"}}),
            "error: environment variable RANK='x' is not a number from 0 to 1048576");
  EXPECT_EQ(launched({{"RANK", "0"}, {"WORLD_SIZE", "0"}}),
            "error: environment variable WORLD_SIZE='0' is not a number from 1 to 1048576");
  EXPECT_EQ(launched({{"RANK", "8"}, {"WORLD_SIZE", "8"}}),
            "error: environment variables RANK=8 and WORLD_SIZE=8 contradict each other");
  EXPECT_EQ(
      launched(
          {{"RANK", "1"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "4"}, {"LOCAL_WORLD_SIZE", "4"}}),
      "error: environment variables LOCAL_RANK=4 and LOCAL_WORLD_SIZE=4 contradict each other");
  EXPECT_EQ(
      launched({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "4"}}),
      "error: environment variables LOCAL_WORLD_SIZE=4 and WORLD_SIZE=2 contradict each other");
}

TEST(Launch, AllRanksAreOnOneHostOnlyIfTheLauncherReportsIt) {
  EXPECT_TRUE(is_single_host({.nranks = 4, .local_ranks = 4}));
  EXPECT_FALSE(is_single_host({.nranks = 4, .local_ranks = 2}));
  EXPECT_FALSE(is_single_host({.nranks = 4}));
}

TEST(SlurmHostlist, TheFirstHostIsExpanded) {
  const struct {
    const char* list;
    const char* first;
  } cases[] = {{"node1", "node1"},
               {"node1,node2", "node1"},
               {"node[03-05,9]", "node03"},
               {"node[7]-ib", "node7-ib"},
               {"a[1-2]b[10-12],c", "a1b10"}};
  for (const auto& [list, first] : cases) {
    const auto host = first_host_of(list);
    ASSERT_TRUE(host) << list;
    EXPECT_EQ(*host, first);
  }
  for (const char* list : {"", ",node1", "node[1-2", "node1]", "node[]", "node[x]", "node[-2]"}) {
    EXPECT_FALSE(first_host_of(list)) << list;
  }
}

TEST(SlurmTasks, PartsRepeatForTheirNumberOfNodes) {
  for (int node = 0; node < 3; ++node) EXPECT_EQ(*tasks_on_node("2(x3),1", node), 2);
  EXPECT_EQ(*tasks_on_node("2(x3),1", 3), 1);
  EXPECT_FALSE(tasks_on_node("2(x3),1", 4));
  for (const char* text : {"", "x", "2(x", "2(x)", "2(x0)", "(x3)", "2(x3"}) {
    EXPECT_FALSE(tasks_on_node(text, 0)) << text;
  }
}

}  // namespace
}  // namespace ringside

// Which processes below a launcher are its ranks: in a made-up /proc.

#include "harness/attach/job_processes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/temporary.h"

namespace ringside::attach {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class JobProcesses : public testing::Test {
 protected:
  void add(int pid, int parent, const std::string& program,
           const std::vector<std::string>& variables, char state = 'S') {
    const std::string folder = fmt::format("{}/{}", proc_.path(), pid);
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/stat") << fmt::format("{} (a) b) {} {} 1", pid, state, parent);
    std::ofstream(folder + "/cmdline") << program << '\0';
    std::ofstream environment(folder + "/environ");
    for (const std::string& one : variables) environment << one << '\0';
  }
  void add_rank(int pid, int parent, int rank, int nranks = 4) {
    add(pid, parent, "python3",
        {fmt::format("RANK={}", rank), fmt::format("WORLD_SIZE={}", nranks),
         fmt::format("LOCAL_RANK={}", rank), fmt::format("LOCAL_WORLD_SIZE={}", nranks)});
  }
  [[nodiscard]] std::vector<int> ranks_below(int pid) const {
    std::vector<int> ranks;
    for (const JobProcess& one : job_processes(pid, proc_.path())) {
      ranks.push_back(one.launch ? one.launch->rank : -1);
    }
    return ranks;
  }

  const TemporaryFolder proc_ = *TemporaryFolder::make("job-processes-test");
};

TEST_F(JobProcesses, TheRanksBelowALauncherAreFoundAndTheirDataLoadersAreNot) {
  add(10, 1, "torchrun", {"HOME=/root"});
  for (int rank = 0; rank < 4; ++rank) add_rank(20 + rank, 10, rank);
  add_rank(30, 21, 1);  // a data loader of rank 1
  add_rank(40, 1, 2);   // another job
  EXPECT_THAT(ranks_below(10), ElementsAre(0, 1, 2, 3));
}

TEST_F(JobProcesses, ARankNamedItselfIsThatRank) {
  add_rank(20, 10, 3);
  add_rank(30, 20, 3);
  EXPECT_THAT(ranks_below(20), ElementsAre(3));
  EXPECT_THAT(ranks_below(21), IsEmpty());
}

TEST_F(JobProcesses, ATorchrunBelowSlurmIsALauncherThatHasARankItself) {
  add(10, 1, "torchrun",
      {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_NUM_TASKS=2"});
  add_rank(20, 10, 2);
  add_rank(21, 10, 3);
  EXPECT_THAT(ranks_below(10), ElementsAre(2, 3));
}

TEST_F(JobProcesses, AShellAroundARankIsNotTheRank) {
  add(10, 1, "mpirun", {});
  add(20, 10, "/bin/sh", {"RANK=0", "WORLD_SIZE=1"});
  add(21, 20, "python3", {"RANK=0", "WORLD_SIZE=1"});
  const auto found = job_processes(10, proc_.path());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().pid, 21);
}

TEST_F(JobProcesses, ARankWithoutAProcessIsOneThatHasEnded) {
  add(10, 1, "torchrun", {});
  for (const int rank : {0, 1, 3}) add_rank(20 + rank, 10, rank);
  add(22, 10, "", {}, 'Z');
  EXPECT_THAT(ranks_without_process(job_processes(10, proc_.path()), proc_.path()), ElementsAre(2));
}

TEST_F(JobProcesses, OneOfTwoRanksThatHasEndedIsMissing) {
  add(10, 1, "torchrun", {});
  add_rank(20, 10, 0, 2);
  EXPECT_THAT(ranks_without_process(job_processes(10, proc_.path()), proc_.path()), ElementsAre(1));
}

// --pid names one rank of a job whose other ranks run.
TEST_F(JobProcesses, ARankThatOnlyWasNotNamedHasNotEnded) {
  add(10, 1, "torchrun", {});
  for (int rank = 0; rank < 4; ++rank) add_rank(20 + rank, 10, rank);
  EXPECT_THAT(ranks_without_process(job_processes(21, proc_.path()), proc_.path()), IsEmpty());
}

// mpirun --map-by node on two hosts: this one runs ranks 0 and 2 of 4, not 0 and 1.
TEST_F(JobProcesses, RanksPlacedByTurnsOnHostsShowNoRange) {
  add(10, 1, "mpirun", {});
  for (const int rank : {0, 2}) {
    add(20 + rank, 10, "python3",
        {fmt::format("OMPI_COMM_WORLD_RANK={}", rank), "OMPI_COMM_WORLD_SIZE=6",
         fmt::format("OMPI_COMM_WORLD_LOCAL_RANK={}", rank / 2), "OMPI_COMM_WORLD_LOCAL_SIZE=3"});
  }
  EXPECT_THAT(ranks_without_process(job_processes(10, proc_.path()), proc_.path()), IsEmpty());
}

// Of 8 ranks this host may run any 3: nothing shows which.
TEST_F(JobProcesses, WhereOtherHostsRunRanksNoneIsMissed) {
  add(10, 1, "mpirun", {});
  for (const int rank : {4, 5, 7})
    add(20 + rank, 10, "python3", {fmt::format("RANK={}", rank), "WORLD_SIZE=8"});
  EXPECT_THAT(ranks_without_process(job_processes(10, proc_.path()), proc_.path()), IsEmpty());
}

TEST_F(JobProcesses, ALoopOfParentsEnds) {
  add(10, 11, "a", {});
  add(11, 10, "b", {});
  EXPECT_THAT(ranks_below(10), ElementsAre(-1));
}

}  // namespace
}  // namespace ringside::attach

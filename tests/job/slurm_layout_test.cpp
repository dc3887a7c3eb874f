#include "diag/job/slurm_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SlurmLayout, ListsOfHostsAreExpanded) {
  EXPECT_THAT(expand_hosts("gpu-[15-17,20]"), ElementsAre("gpu-15", "gpu-16", "gpu-17", "gpu-20"));
  EXPECT_THAT(expand_hosts("n[08-10]-ib,login"),
              ElementsAre("n08-ib", "n09-ib", "n10-ib", "login"));
  EXPECT_THAT(expand_hosts("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(expand_hosts("gpu-[15-"), IsEmpty());
  EXPECT_THAT(expand_hosts("gpu-[5-1]"), IsEmpty());
  EXPECT_THAT(expand_hosts("gpu-[0-99999999]"), IsEmpty());
  EXPECT_THAT(expand_hosts("gpu-[x]"), IsEmpty());
  EXPECT_THAT(expand_hosts(",,"), IsEmpty());
}

TEST(SlurmLayout, RanksAreDealtOutInBlocks) {
  SlurmLayout layout;
  layout.take("#SBATCH --nodes=4 --ntasks-per-node=8");
  layout.take("#SBATCH --nodelist=gpu-[15-18] --distribution=block --no-kill");
  EXPECT_THAT(layout.ranks_of("gpu-17"), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_THAT(layout.ranks_of("gpu-19"), IsEmpty());
}

TEST(SlurmLayout, PeopleCountGpusInAHurry) {
  SlurmLayout layout;
  layout.take("4 nodes x 2 GPUs, --nodelist=gpu-c-[010-013]");
  EXPECT_THAT(layout.ranks_of("gpu-c-012.cluster"), ElementsAre(4, 5));
}

TEST(SlurmLayout, IgnoresOtherDistributionsAndCounts) {
  SlurmLayout cyclic;
  cyclic.take("srun --nodelist=n[1-2] --ntasks-per-node=2 --distribution=cyclic");
  EXPECT_THAT(cyclic.ranks_of("n1"), IsEmpty());
  SlurmLayout fewer;
  fewer.take("srun --nodes=3 --nodelist=n[1-2] --ntasks-per-node=2");
  EXPECT_THAT(fewer.ranks_of("n1"), IsEmpty());
  SlurmLayout nothing;
  nothing.take("");
  nothing.take("--nodelist=");
  EXPECT_THAT(nothing.ranks_of("n1"), IsEmpty());
}

}  // namespace
}  // namespace ringside::job

#include "engine/transport/socket/name_rule.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(NameRule, TakesNamesThatBeginSoOrAreSo) {
  EXPECT_TRUE(read_name_rule("eth,ib").fits("ib0"));
  EXPECT_FALSE(read_name_rule("eth,ib").fits("docker0"));
  EXPECT_TRUE(read_name_rule("mlx5_1").fits("mlx5_10"));
  EXPECT_FALSE(read_name_rule("=mlx5_1").fits("mlx5_10"));
  EXPECT_TRUE(read_name_rule("=mlx5_1").fits("mlx5_1"));
}

TEST(NameRule, SkipsWhatFollowsACircumflex) {
  EXPECT_FALSE(read_name_rule("^docker,lo").fits("lo"));
  EXPECT_TRUE(read_name_rule("^docker,lo").fits("eth0"));
  EXPECT_TRUE(read_name_rule("^=mlx5_1").fits("mlx5_10"));
  EXPECT_FALSE(read_name_rule("^=mlx5_1").fits("mlx5_1"));
}

TEST(NameRule, ReadsAPortAfterAColon) {
  const NameRule rule = read_name_rule("=mlx5_0:2,mlx5_3");
  EXPECT_TRUE(rule.fits("mlx5_0", 2));
  EXPECT_FALSE(rule.fits("mlx5_0", 1));
  EXPECT_TRUE(rule.fits("mlx5_3", 1));
  EXPECT_FALSE(read_name_rule("^mlx5_0:1").fits("mlx5_0", 1));
  EXPECT_TRUE(read_name_rule("^mlx5_0:1").fits("mlx5_0", 2));
  // The alias of an interface is a name.
  EXPECT_TRUE(read_name_rule("=eth0:backup").fits("eth0:backup"));
}

}  // namespace
}  // namespace ringside

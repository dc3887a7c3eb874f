#include <gtest/gtest.h>

#include <set>

#include "engine/channels/parameters.h"
#include "tests/support/environment_table.h"

namespace ringside {
namespace {

TEST(ChannelParameters, AnEmptyEnvironmentLeavesNcclsDefaults) {
  const auto parameters = parse_channel_parameters(environment_of({}));
  ASSERT_TRUE(parameters);
  EXPECT_EQ(parameters->cross_nic, 2);
  EXPECT_FALSE(parameters->min_channels || parameters->max_channels || parameters->buffer);
  EXPECT_EQ(parameters->collnet_node_threshold, 2);
  EXPECT_TRUE(parameters->ignore_net_mismatch);
}

TEST(ChannelParameters, NewNamesOfChannelLimitsWinOverOldOnes) {
  const auto old = parse_channel_parameters(
      environment_of({{"NCCL_MIN_NRINGS", "4"}, {"NCCL_MAX_NRINGS", "8"}}));
  EXPECT_EQ(old->min_channels, 4);
  EXPECT_EQ(old->max_channels, 8);
  const auto both = parse_channel_parameters(
      environment_of({{"NCCL_MIN_NRINGS", "4"}, {"NCCL_MIN_NCHANNELS", "0x10"}}));
  EXPECT_EQ(both->min_channels, 16);
}

TEST(ChannelParameters, FlagsAreZeroOrOne) {
  EXPECT_TRUE(
      parse_channel_parameters(environment_of({{"NCCL_COLLNET_ENABLE", "1"}}))->collnet_enable);
  EXPECT_FALSE(parse_channel_parameters(environment_of({{"NCCL_IGNORE_NET_MISMATCH", "0"}}))
                   ->ignore_net_mismatch);
  EXPECT_FALSE(parse_channel_parameters(environment_of({{"NCCL_COLLNET_ENABLE", "2"}})));
}

TEST(ChannelParameters, ListsExactlyTheVariablesThatItReads) {
  std::set<std::string> asked;
  const auto parameters = parse_channel_parameters([&asked](const char* name) {
    asked.insert(name);
    return std::optional<std::string>{};
  });
  ASSERT_TRUE(parameters);
  const auto listed = channel_variables();
  EXPECT_EQ(asked, std::set<std::string>(listed.begin(), listed.end()));
  EXPECT_EQ(listed.size(), asked.size());
}

TEST(ChannelParameters, ABadValueOfAnyVariableIsAnErrorThatNamesIt) {
  for (const std::string_view variable : channel_variables()) {
    if (variable == "NCCL_GRAPH_FILE") continue;  // any text may be a path
    for (const char* const text : {"many", "-3", "16 channels"}) {
      const auto parameters =
          parse_channel_parameters(environment_of({{std::string(variable), text}}));
      ASSERT_FALSE(parameters) << variable << "=" << text;
      EXPECT_EQ(parameters.error().code, ErrorCode::InvalidArgument);
      EXPECT_NE(parameters.error().message.find(std::string(variable) + "='" + text + "'"),
                std::string::npos);
      EXPECT_NE(parameters.error().help.find("give a number from "), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ringside

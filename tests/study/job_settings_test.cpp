#include "study/job_settings.h"

#include <gmock/gmock.h>

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(JobSettings, AreSortedByWhatTheyChange) {
  const auto sorted =
      parse_job_settings({"nics=4", "NCCL_ALGO=Ring", "fabric.routing=adaptive", "fabric=switch",
                          "placement=packed", "NCCL_ALGO=", "fabric=leaf_spine:2"});
  ASSERT_TRUE(sorted) << sorted.error().message;
  EXPECT_THAT(sorted->hosts, ElementsAre(NameValue{"nics", "4"}));
  EXPECT_THAT(sorted->cluster, ElementsAre(NameValue{"fabric.routing", "adaptive"},
                                           NameValue{"placement", "packed"}));
  EXPECT_EQ(sorted->fabric, "leaf_spine:2");
  EXPECT_THAT(sorted->variables,
              ElementsAre(NameValue{"NCCL_ALGO", "Ring"}, NameValue{"NCCL_ALGO", ""}));
  EXPECT_TRUE(is_fabric_setting("fabric=switch"));
  EXPECT_FALSE(is_fabric_setting("NCCL_ALGO=fabric.x"));
}

TEST(JobSettings, WithoutNameOrValueAreErrors) {
  for (const char* const text : {"nics", "=4", "fabric.routing", ""}) {
    const auto sorted = parse_job_settings({text});
    ASSERT_FALSE(sorted) << text;
    EXPECT_THAT(sorted.error().message, HasSubstr("is not NAME=VALUE"));
  }
}

TEST(JobSettings, AnEmptyValueUnsetsAVariable) {
  const Result<Environment> environment =
      environment_with({{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "LL"}, {"NCCL_ALGO", ""}});
  ASSERT_TRUE(environment);
  EXPECT_EQ((*environment)("NCCL_ALGO"), std::nullopt);
  EXPECT_EQ((*environment)("NCCL_PROTO"), "LL");
}

TEST(JobSettings, ALogNamesTheVariablesThatAreSet) {
  const auto logged = logged_settings({{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", ""}});
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0].name, "NCCL_ALGO");
  EXPECT_EQ(logged[0].value, "Ring");
}

}  // namespace
}  // namespace ringside::study

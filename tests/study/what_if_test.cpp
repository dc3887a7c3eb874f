#include "study/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/study/cluster_folder.h"

namespace ringside::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SimQuestion base() {
  return {.job = {.on = "dgx-h100", .nodes = 2},
          .calls = {.collective = "all_reduce", .sizes = "256M"},
          .algorithm = "ring",
          .protocol = "simple",
          .fidelity = "event"};
}

std::vector<std::string> labels(const std::vector<Variant>& variants) {
  std::vector<std::string> all;
  for (const Variant& one : variants) all.push_back(one.label());
  return all;
}

std::string refusal(const std::vector<std::string>& vary) {
  auto variants = variants_of(base(), vary, {});
  if (!variants) return variants.error().message + ": " + variants.error().help;
  auto planned = plan_variants(*std::move(variants));
  if (!planned) return planned.error().message + ": " + planned.error().help;
  return planned->size() > 1 ? (*planned)[1].refusal : "accepted";
}

/// Returns the rows of the base and of each variant.
std::vector<SimRow> rows_of(const SimQuestion& question, const std::vector<std::string>& vary,
                            std::optional<int> drop_rail = {}) {
  std::vector<SimRow> rows;
  auto variants = variants_of(question, vary, drop_rail);
  EXPECT_TRUE(variants) << variants.error().message;
  auto planned = plan_variants(*std::move(variants));
  EXPECT_TRUE(planned) << planned.error().message;
  for (const PlannedVariant& one : *planned) {
    auto call = simulate_variant(one, one.plan->calls.sizes.front());
    EXPECT_TRUE(call) << call.error().message;
    EXPECT_TRUE(call->row) << call->refusal;
    rows.push_back(*std::move(call->row));
  }
  return rows;
}

TEST(WhatIf, OneKeyIsARowAValueAndTwoAreTheGrid) {
  EXPECT_THAT(labels(*variants_of(base(), {"nics=4,8"}, {})),
              ElementsAre("base", "nics=4", "nics=8"));
  EXPECT_THAT(labels(*variants_of(base(), {"nodes=2,4", "gdr=on,off"}, 3)),
              ElementsAre("base", "nodes=2 gdr=on", "nodes=2 gdr=off", "nodes=4 gdr=on",
                          "nodes=4 gdr=off", "drop_rail=3"));
  EXPECT_THAT(labels(*variants_of(base(), {}, {})), ElementsAre("base"));
}

// 8 NICs on 2 nodes: half of them carry half, and 7 carry 7 / 8, where bandwidth limits.
TEST(WhatIf, FewerNicsCarryLess) {
  const std::vector<SimRow> rows = rows_of(base(), {"nics=4,8"}, 3);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_NEAR(rows[1].busbw.value / rows[0].busbw.value, 0.5, 0.05);
  EXPECT_DOUBLE_EQ(rows[2].busbw.value, rows[0].busbw.value);
  EXPECT_NEAR(rows[3].busbw.value / rows[0].busbw.value, 7.0 / 8, 0.05);
}

TEST(WhatIf, EachKeyChangesTheAnswer) {
  for (const std::string vary :
       {"on=dgx-a100", "nodes=4", "nvl_domain=2", "nics=2", "drop_rail=0", "gdr=off", "net=tcp",
        "nccl=2.19", "launch=threads", "algo=tree", "proto=ll", "channels=2", "NCCL_ALGO=Tree",
        "gpus=32", "nic_rate=100G", "fabric=leaf_spine:64:1"}) {
    SimQuestion question = base();
    if (vary.starts_with("fabric")) question.job.nodes = 8;  // on two leaves
    if (vary == "NCCL_ALGO=Tree" || vary == "nccl=2.19")
      question.algorithm = question.protocol = "";
    if (vary == "nccl=2.19") question.calls.sizes = "1M";
    if (vary == "launch=threads") {  // a long call hides the cost of a launch
      question.calls.sizes = "8";
      question.algorithm = question.protocol = "";
      question.job.nodes = 1;
    }
    const std::vector<SimRow> rows = rows_of(question, {vary});
    EXPECT_NE(rows[0].result.time, rows[1].result.time) << vary;
  }
  EXPECT_EQ(what_if_keys().size(), 16U) << "what is new stands in the list above";
}

TEST(WhatIf, AFabricsKeysAreVariedToo) {
  const ClusterFolder folder;
  SimQuestion question = base();
  question.job.nodes.reset();
  question.job.on =
      folder.write("dgx-h100 x4", "{kind: leaf_spine, hosts_per_leaf: 1, routing: adaptive}");
  const std::vector<SimRow> rows = rows_of(question, {"fabric.oversubscription=1,2,4"});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].result.time, rows[1].result.time);
  EXPECT_NEAR(rows[2].result.time / rows[0].result.time, 48.0 * 2 / 50, 0.1);
  EXPECT_NEAR(rows[3].result.time / rows[0].result.time, 48.0 * 4 / 50, 0.2);
  EXPECT_EQ(limit_text(rows[3]), "leaf 0 -> spines");
  EXPECT_THAT(labels(*variants_of(question, {"placement=packed,scattered 4"}, {})),
              ElementsAre("base", "placement=packed", "placement=scattered 4"));
}

TEST(WhatIf, RefusesWithTheNearestKey) {
  EXPECT_THAT(refusal({"nodez=2"}), HasSubstr("did you mean 'nodes'"));
  EXPECT_THAT(refusal({"NCCL_ALGOO=Ring"}), HasSubstr("did you mean 'NCCL_ALGO'"));
  EXPECT_THAT(refusal({"nics"}), HasSubstr("is not KEY=VALUE"));
  EXPECT_THAT(refusal({"nics=4,,8"}), HasSubstr("is not KEY=VALUE"));
  EXPECT_THAT(refusal({"=4"}), HasSubstr("is not KEY=VALUE"));
  EXPECT_THAT(refusal({"nics=4", "nics=8"}), HasSubstr("appears twice"));
  EXPECT_THAT(refusal({"nics=four"}), HasSubstr("'four' is no count"));
  EXPECT_THAT(refusal({"nics=16"}), HasSubstr("dgx-h100 has 8 NICs; give 1 to 8"));
  EXPECT_THAT(refusal({"drop_rail=8"}), HasSubstr("drop one of 0 to 7"));
  EXPECT_THAT(refusal({"gdr=yes"}), HasSubstr("neither on nor off"));
  EXPECT_THAT(refusal({"net=ibb"}), HasSubstr("did you mean 'ib'"));
  EXPECT_THAT(refusal({"nccl=9.9"}), HasSubstr("9.9"));
  EXPECT_THAT(refusal({"fabric.oversubscription=2"}), HasSubstr("which has no fabric"));
  SimQuestion traced = base();
  traced.trace = "/nowhere/x.rtrace";
  EXPECT_FALSE(variants_of(traced, {"nics=4"}, {}));
  std::string many = "channels=1";
  for (int i = 2; i < 30; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(refusal({many, "nics=1,2,3,4,5,6,7,8", "gdr=on,off"}), HasSubstr("too many"));
}

TEST(WhatIf, ACommaWithinBracketsOrQuotesIsTheValuesOwn) {
  EXPECT_THAT(parse_vary("NCCL_ALGO=\"Ring,Tree\",NVLS")->values, ElementsAre("Ring,Tree", "NVLS"));
  EXPECT_THAT(parse_vary("NCCL_ALGO='Ring,Tree'")->values, ElementsAre("Ring,Tree"));
  EXPECT_THAT(parse_vary("fabric.dims=[4,2],[8,1]")->values, ElementsAre("[4,2]", "[8,1]"));
  EXPECT_THAT(parse_vary("fabric.degraded=[{link: a, share: 1}]")->values,
              ElementsAre("[{link: a, share: 1}]"));
  EXPECT_THAT(refusal({"fabric.dims=[4,2"}), HasSubstr("that nothing ends"));
  EXPECT_THAT(refusal({"nics=\"\",4"}), HasSubstr("is not KEY=VALUE"));
}

// There are only 8 NICs: the next variant is simulated all the same, and only an error of the base ends the whole
// study.
TEST(WhatIf, AVariantThatCannotBeLeavesTheOthers) {
  const auto planned = plan_variants(*variants_of(base(), {"nics=16,4"}, {}));
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(planned->size(), 3U);
  const auto refused = simulate_variant((*planned)[1], 1_MiB);
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_FALSE(refused->row);
  EXPECT_THAT(refused->refusal, HasSubstr("dgx-h100 has 8 NICs"));
  const auto other = simulate_variant((*planned)[2], 1_MiB);
  ASSERT_TRUE(other && other->row);
  SimQuestion question = base();
  question.job.hosts.nics = 16;
  EXPECT_FALSE(plan_variants(*variants_of(question, {"gdr=on"}, {})));
}

// A100 systems have no switches that reduce: the rest of the table is still valid.
TEST(WhatIf, UnsupportedVariantsAreRowsWithTheReason) {
  SimQuestion question = base();
  question.job.on = "dgx-a100";
  question.algorithm = question.protocol = "";
  const auto planned = plan_variants(*variants_of(question, {"NCCL_ALGO=NVLS"}, {}));
  ASSERT_TRUE(planned) << planned.error().message;
  const auto call = simulate_variant((*planned)[1], 1_MiB);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_FALSE(call->row);
  EXPECT_THAT(call->refusal, HasSubstr("no algorithm is left"));
}

}  // namespace
}  // namespace ringside::study

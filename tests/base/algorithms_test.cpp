#include "base/algorithms.h"

#include <gtest/gtest.h>

#include <string>

#include "base/vocabulary.h"

namespace ringside {
namespace {

/// Names of the algorithms for which `is_so` holds, each with a space behind it.
template <typename Claim>
std::string those(Claim is_so) {
  std::string names;
  for (const AlgorithmFacts& facts : kAlgorithmFacts) {
    if (is_so(facts)) names += std::string(facts.name) + " ";
  }
  return names;
}

std::string those_that_do(Collective collective) {
  return those([=](const AlgorithmFacts& facts) { return facts.collectives.contains(collective); });
}

// NCCL's tables, its variables and the traces use these numbers.
TEST(Algorithms, TheirNumbersAreNccls) {
  EXPECT_EQ(those([](const auto&) { return true; }),
            "tree ring collnet_direct collnet_chain nvls nvls_tree pat one_shot two_shot ");
  EXPECT_STREQ(facts_of(Algorithm{kNcclAlgorithms - 1}).name, "pat");
}

// The kernels of NCCL 2.30's device/generate.py, and the additional ones of hosts.
TEST(Algorithms, EachDoesItsCollectives) {
  EXPECT_EQ(those_that_do(Collective::AllReduce),
            "tree ring collnet_direct collnet_chain nvls nvls_tree one_shot two_shot ");
  EXPECT_EQ(those_that_do(Collective::AllGather), "ring collnet_direct nvls pat ");
  EXPECT_EQ(those_that_do(Collective::ReduceScatter), "ring collnet_direct nvls pat ");
  for (int c = 0; c < kCollectiveCount; ++c) {
    const auto collective = static_cast<Collective>(c);
    if (collective == Collective::AllReduce || collective == Collective::AllGather ||
        collective == Collective::ReduceScatter) {
      continue;
    }
    EXPECT_EQ(those_that_do(collective), "ring ") << to_string(collective);
  }
}

TEST(Algorithms, RequirementsOfEachAlgorithm) {
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.needs_nodes; }),
            "collnet_direct collnet_chain nvls_tree ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.is_modelled(); }),
            "collnet_direct collnet_chain nvls nvls_tree ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.uses_collnet(1); }),
            "collnet_direct collnet_chain ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.uses_collnet(2); }),
            "collnet_direct collnet_chain nvls ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.takes_nvswitch; }),
            "nvls nvls_tree ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.has_own_lanes; }), "tree ring ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.joins_all_pairs; }),
            "one_shot two_shot ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return !facts.is_simple_only; }),
            "tree ring one_shot two_shot ");
}

TEST(Algorithms, BufferUsePermittedToExecutors) {
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.returns_results; }), "two_shot ");
  EXPECT_EQ(those([](const AlgorithmFacts& facts) { return facts.keeps_input; }), "two_shot ");
}

TEST(Algorithms, AnUnsupportedCollectiveErrorListsTheAlgorithmsThatHaveIt) {
  EXPECT_TRUE(check_algorithm(Collective::AllReduce, Algorithm::Tree));
  const Status refused = check_algorithm(Collective::AllGather, Algorithm::Tree);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(refused.error().message, "no all_gather by the tree algorithm");
  EXPECT_EQ(refused.error().help, "there is ring, collnet_direct, nvls, pat");
}

TEST(Algorithms, NamesAreInTheOrderOfTheEnumerators) {
  ASSERT_EQ(algorithm_names().size(), kAlgorithmFacts.size());
  for (const AlgorithmFacts& facts : kAlgorithmFacts) {
    EXPECT_EQ(algorithm_names()[static_cast<std::size_t>(facts.algorithm)], facts.name);
    EXPECT_EQ(*parse_algorithm(facts.name), facts.algorithm);
  }
}

}  // namespace
}  // namespace ringside

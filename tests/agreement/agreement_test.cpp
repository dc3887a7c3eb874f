#include "tests/agreement/agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/agreement/described.h"
#include "tests/support/oracle.h"

namespace ringside::oracle {
namespace {

TEST(Agreement, EveryDecisionOfEveryGoldenFileIsNccls) {
  for (const std::string& name : golden_names()) {
    SCOPED_TRACE(name);
    const auto parts = compare_all(name);
    for (const Part part : kParts) {
      SCOPED_TRACE(to_string(part));
      EXPECT_GT(parts[static_cast<std::size_t>(part)].checked, 0);
      EXPECT_THAT(parts[static_cast<std::size_t>(part)].differences, testing::IsEmpty());
    }
  }
}

// A clone has no NCCL to compare with: the file holds NCCL's answer, as `ringside_agreement --digests` prints it.
TEST(Agreement, TheDigestsOfTheTreeAreThoseOfTheGoldenFiles) {
  std::map<std::string, std::string> kept;
  for (const DescribedJob& job : described_jobs()) kept[job.name] = to_text(job);
  std::size_t described = 0;
  for (const std::string& name : golden_names()) {
    const auto job = describe(name, load_golden(name));
    if (!job) continue;
    ++described;
    EXPECT_EQ(to_text(*job), kept[name]);
  }
  EXPECT_EQ(described, kept.size());
}

// Compares every detail, where DescribedNodes.* compares only the digest. One node and two nodes suffice: two show
// what differs between hosts, and larger jobs only join more nodes.
TEST(Agreement, OnTheNodesOfTheTreeEveryDecisionIsNccls) {
  for (const DescribedJob& asked : described_jobs()) {
    const Json golden = load_golden(asked.name);
    if (golden.at("nNodes").get<int>() > 4) continue;
    SCOPED_TRACE(asked.name);
    const Job job = solve(asked);
    const auto tuner = Tuner::make(job.connection.shape, {});
    ASSERT_TRUE(tuner) << tuner.error().message;
    for (const Part part : kParts) {
      EXPECT_THAT(compare(without_guids(golden_part(golden, part)),
                          without_guids(our_part(job, *tuner, part)))
                      .differences,
                  testing::IsEmpty())
          << to_string(part);
    }
  }
}

}  // namespace
}  // namespace ringside::oracle

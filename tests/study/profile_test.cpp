#include "study/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace ringside::study {
namespace {

using testing::HasSubstr;

Result<Profile> profiled(const SimQuestion& question) {
  RINGSIDE_TRY(const SimPlan plan, plan_simulation(question));
  RINGSIDE_TRY(const SimCall call, tune_call(plan, plan.calls.sizes[0]));
  return profile_call(plan, call);
}

SimQuestion asked(const std::string& sizes, const std::string& algorithm,
                  const std::string& fidelity = "event") {
  return {.job = {.on = "dgx-h100", .nodes = 2},
          .calls = {.collective = "all_reduce", .sizes = sizes},
          .algorithm = algorithm,
          .protocol = "simple",
          .fidelity = fidelity};
}

double term(const Profile& profile, const std::string& part) {
  double sum = 0;
  for (const TimeTerm& one : profile.terms) {
    if (one.what.find(part) != std::string::npos) sum += one.time.count();
  }
  return sum / profile.row.result.time.count();
}

/// Expects that the legs follow each other without a gap, that the terms sum up to the call's time, and that no link
/// carries more than its capacity.
void expect_sound(const Profile& profile, const std::string& what) {
  ASSERT_TRUE(profile.no_path.empty()) << what << ": " << profile.no_path;
  ASSERT_FALSE(profile.path.empty()) << what;
  for (std::size_t i = 1; i < profile.path.size(); ++i) {
    EXPECT_NEAR(profile.path[i].begin.count(), profile.path[i - 1].end.count(), 1e-12) << what << i;
  }
  Seconds sum{};
  for (const TimeTerm& one : profile.terms) sum += one.time;
  EXPECT_NEAR(sum / profile.row.result.time, 1, 1e-3) << what;
  for (const LinkUsage& link : profile.links) {
    EXPECT_LE(link.share, 1 + 1e-9) << what << link.kind;
    EXPECT_LE(link.mean_share, link.share + 1e-9) << what << link.kind;
    EXPECT_FALSE(link.over_time.empty()) << what << link.kind;
  }
  EXPECT_NEAR(profile.links.front().share, profile.row.busy_share(), 1e-9) << what;
  // A phase is named after the term that takes most of it.
  for (const Phase& phase : profile.phases) {
    std::map<std::string, double> sums;
    for (const Stretch& one : profile.stretches) {
      const double inside =
          (std::min(one.end, phase.end) - std::max(one.begin, phase.begin)).count();
      if (inside > 0) sums[one.what] += inside / (phase.end - phase.begin).count();
    }
    for (const auto& [term_name, part] : sums)
      EXPECT_LE(part, phase.share + 1e-6) << what << term_name;
    EXPECT_NEAR(sums[phase.what], phase.share, 1e-6) << what;
  }
  for (std::size_t i = 1; i < profile.phases.size(); ++i) {
    EXPECT_GE(profile.phases[i].begin - profile.phases[i - 1].end, Seconds{-1e-12}) << what;
  }
}

TEST(Profile, HoldsTogetherForEveryAlgorithm) {
  for (const char* const algorithm : {"ring", "tree", "nvls_tree"}) {
    for (const char* const sizes : {"8", "16M"}) {
      const auto profile = profiled(asked(sizes, algorithm));
      ASSERT_TRUE(profile) << profile.error().message;
      expect_sound(*profile, std::string(algorithm) + " " + sizes);
    }
  }
}

// With 8 B nearly all of the time is latency; with 256 MB the links take most of it.
TEST(Profile, TellsLatencyFromBandwidth) {
  const auto brief = profiled(asked("8", "tree"));
  ASSERT_TRUE(brief) << brief.error().message;
  EXPECT_GT(term(*brief, "latency"), 0.4);
  EXPECT_LT(term(*brief, "bandwidth"), 0.1);
  const auto large = profiled(asked("256M", "ring"));
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_GT(term(*large, "bandwidth"), 0.6);
  EXPECT_LT(term(*large, "latency"), 0.3);
}

// 512 KiB go from each of 72 GPUs to the next: the links rest for 99 % of the time, and each step waits for its bytes.
TEST(Profile, FollowsThePathRatherThanTheBusiestLink) {
  const SimQuestion question{.job = {.on = "gb200-nvl72"},
                             .calls = {.collective = "broadcast", .sizes = "16M"},
                             .protocol = "simple"};
  const auto profile = profiled(question);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_LT(profile->row.busy_share(), 0.05);
  EXPECT_EQ(limit_of(profile->row), profile->terms.front().what);
  EXPECT_THAT(limit_of(profile->row), HasSubstr("bandwidth of node *: GPU * -> NVSwitch"));
  EXPECT_GT(profile->row.path_part, 0.8);
}

// Halves of a chunk follow each other through the slow link; neither is held up by one that is quick. The path is
// over the links that the simulator names as the busiest.
TEST(Profile, NamesTheLinkThatLimits) {
  SimQuestion question = asked("1G", "ring");
  question.job.nodes = 4;
  const auto profile = profiled(question);
  ASSERT_TRUE(profile) << profile.error().message;
  ASSERT_FALSE(profile->links.empty());
  EXPECT_THAT(profile->links.front().kind, HasSubstr("NIC"));
  EXPECT_GT(term(*profile, "PCI") + term(*profile, "NIC"), 0.9);
  EXPECT_LT(term(*profile, "NVSwitch"), 0.05);
}

// The chain of SimGrid's steps is as long, and has the same terms.
TEST(Profile, IsTheSameByChunk) {
  const auto event = profiled(asked("16M", "ring"));
  const auto chunk = profiled(asked("16M", "ring", "chunk"));
  ASSERT_TRUE(event && chunk);
  expect_sound(*chunk, "chunk");
  EXPECT_NEAR(term(*event, "bandwidth"), term(*chunk, "bandwidth"), 0.05);
  EXPECT_NEAR(term(*event, "latency"), term(*chunk, "latency"), 0.05);
}

TEST(Profile, FlowFidelityHasLinksButNoPath) {
  const auto profile = profiled(asked("16M", "ring", "flow"));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_FALSE(profile->links.empty());
  EXPECT_THAT(profile->no_path, HasSubstr("--fidelity event"));
  EXPECT_TRUE(profile->path.empty());
}

TEST(Profile, KindsOfLinksHaveNoNumbers) {
  EXPECT_EQ(link_kind("node 12: GPU 3 -> NVSwitch"), "node *: GPU * -> NVSwitch");
  EXPECT_EQ(link_kind("leaf"), "leaf");
}

}  // namespace
}  // namespace ringside::study

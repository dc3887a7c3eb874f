#include "tests/hangdetect/pastes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/decide.h"
#include "tests/hangdetect/varied.h"

namespace ringside::hang {
namespace {

/// The folder of pastes that we wrote: their kinds and culprits were fixed before any was run.
std::string invented() { return RINGSIDE_INVENTED_PASTES; }

void expect_good(const std::string& folder, const pastes::Variant& variant) {
  PasteResult result = score_pastes(folder, variant);
  // Half of ours are a line or two, whose first eight characters name the rank.
  const double least = variant.name == "truncated at both ends" ? 0.8 : 0.85;
  EXPECT_GE(result.tally["yes"].share(), least) << variant.name << result.wrong;
  EXPECT_GE(result.tally["partly"].share(), 0.60) << variant.name << result.wrong;
  EXPECT_EQ(result.tally["no"].share(), 1) << variant.name << ": blamed in vain" << result.wrong;
  // Of 35 one, whose asker speaks of TIMEOUT above steps (fifth-reader-24), is "unknown", which blames nobody.
  EXPECT_GE(result.tally["not_a_hang"].share(), 0.97)
      << variant.name << ": a false alarm" << result.wrong;
}

class HangPastes : public testing::TestWithParam<pastes::Variant> {};

// Every variant is a text that somebody could paste: none of them may cost the answer.
TEST_P(HangPastes, OursAreReadWhateverHappenedToTheirText) { expect_good(invented(), GetParam()); }

// A sanitizer makes each text six times as slow: every fourth variant shows it what the others do.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kVariantStep = 4;
constexpr int kHarms = 8;
#else
constexpr std::size_t kVariantStep = 1;
constexpr int kHarms = 30;
#endif

std::vector<pastes::Variant> some_variants() {
  std::vector<pastes::Variant> some;
  const auto& all = pastes::variants();
  for (std::size_t i = 0; i < all.size(); i += kVariantStep) some.push_back(all[i]);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Variants, HangPastes, testing::ValuesIn(some_variants()),
                         [](const auto& one) { return test_name(one.param); });

/// The text after something happened to it: bytes changed, a piece gone, a piece twice. The same seed, the same text.
std::string harmed(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t size) {
    return static_cast<std::size_t>(random()) % std::max<std::size_t>(1, size);
  };
  for (int change = 0; change < 4 && !text.empty(); ++change) {
    const std::size_t at = below(text.size());
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        text.erase(at, below(80));
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(200)));
        break;
      default:
        text.insert(at, std::to_string(random()));
    }
  }
  return text;
}

// Whatever a stranger pastes is read and judged; an address or undefined-behaviour sanitizer sees the rest.
TEST(HostilePastes, HarmedTextIsReadAndJudged) {
  std::mt19937 random(7);
  int judged = 0;
  for (const Paste& paste : load_pastes(invented())) {
    for (int round = 0; round < kHarms; ++round) {
      Names names;
      const LogFacts facts =
          read_log_text(harmed(paste.files.front().text, random), "paste.txt", names);
      constexpr int kMostRanks = 4096;
      if (facts.world > kMostRanks) continue;
      const Job job(names, facts.dumps, {}, facts.world);
      if (job.world() > kMostRanks) continue;
      const Verdict verdict = decide(job, facts);
      EXPECT_GE(verdict.best.confidence, 0);
      EXPECT_LE(verdict.best.confidence, 1);
      for (const int rank : verdict.best.culprits) EXPECT_GE(rank, 0) << paste.id;
      ++judged;
    }
  }
  EXPECT_GT(judged, kHarms * 100);
}

// A scorer that calls everything right would pass all of the above.
TEST(PasteScorer, AWrongKindAndAnInnocentRankAreWrong) {
  Paste paste{"one", "yes", {"dead_rank"}, {{1}}, {{"a.txt", "nothing at all\n"}}};
  EXPECT_FALSE(score_paste(paste).is_right());
  paste.kinds = {"unknown"};
  EXPECT_FALSE(score_paste(paste).is_right()) << "nobody was named";
  paste.culprits = {{}};
  EXPECT_TRUE(score_paste(paste).is_right());
}

}  // namespace
}  // namespace ringside::hang

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/log_facts.h"
#include "diag/hangdetect/verdict/decide.h"
#include "tests/diag/labelled_hangs.h"

namespace ringside::hang {
namespace {

// A sanitizer makes each text six times as slow.
#ifdef __SANITIZE_ADDRESS__
constexpr int kHarms = 8;
#else
constexpr int kHarms = 30;
#endif

/// Returns the text after damage: changed bytes, a removed piece, a repeated piece. The same seed gives the same text.
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

// Arbitrary pasted text is read and judged; an address or undefined-behaviour sanitizer detects errors meanwhile.
TEST(HostilePastes, HarmedTextIsReadAndJudged) {
  std::mt19937 random(7);
  int judged = 0;
  for (const LabelledHang& paste : load_labelled_texts(RINGSIDE_INVENTED_PASTES)) {
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

}  // namespace
}  // namespace ringside::hang

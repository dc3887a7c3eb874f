#include "tests/logparse/corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/logparse/differential.h"
#include "tests/logparse/records.h"

namespace ringside::logs {
namespace {

/// The number of lines with NCCL's prefix that are recognised. Torn ones count if the rest is not.
TEST(Corpus, AlmostEveryLineOfNcclIsDescribed) {
  std::uint64_t all = 0;
  std::uint64_t described_lines = 0;
  for (const std::string& path : corpus_logs()) {
    std::uint64_t here = 0;
    std::uint64_t unknown = 0;
    each_record(read_log(path), [&](const Record& record, const Speaker&) {
      if (record.level == Level::None) return;
      ++here;
      unknown += record.kind == RecordKind::Unknown ? 1 : 0;
    });
    all += here;
    described_lines += here - unknown;
    if (here == 0) continue;
    const double share = 1 - static_cast<double>(unknown) / static_cast<double>(here);
    if (unknown > 0)
      fmt::print("{:6.2f} % of {:6} {}\n", 100 * share, here, path.substr(path.rfind('/') + 1));
    EXPECT_GE(share, 0.85) << path;
  }
  fmt::print("{:.3f} % of {} lines of NCCL are described\n",
             100 * static_cast<double>(described_lines) / static_cast<double>(all), all);
  EXPECT_GE(static_cast<double>(described_lines), 0.999 * static_cast<double>(all));
}

TEST(Corpus, FastAndPlainReaderAgreeOnItsLinesAndTheirMutations) {
  EXPECT_GT(expect_readers_agree(some_lines(corpus_logs(), 64)), 1000U);
}

TEST(Corpus, CachingDoesNotChangeTheResult) {
  EXPECT_GT(expect_known_lines_change_nothing(some_lines(corpus_logs(), 64)), 1000U);
}

}  // namespace
}  // namespace ringside::logs

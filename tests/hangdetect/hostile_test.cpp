// Numbers in dumps, logs and stacks that could size memory: the memory stays in proportion to the text.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/readers/statements.h"
#include "tests/support/peak_memory.h"

namespace ringside::hang {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(Hostile, RanksOfStatementsAreBounded) {
  const std::int64_t taken = peak_memory_of([] {
    LogFacts facts;
    Statements statements(facts);
    std::vector<int> all(kMostRanks);
    std::iota(all.begin(), all.end(), 0);
    logs::Record record;
    for (int i = 0; i < 40; ++i) {
      statements.state(record, LogStatement::What::Laggards, all);
    }
  });
  EXPECT_LT(taken, 40 * kMiB) << "each holds 4 MiB";
}

TEST(Hostile, RanksOfStacksAreBounded) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "=== Ranks 0-1000000 ===\n  all_reduce (distributed_c10d.py:1)\n";
  }
  ASSERT_FALSE(read_process_stacks(read_paste(text), "paste.txt").empty());
  EXPECT_EQ(read_process_stacks(read_paste(text), "paste.txt").front().ranks.size(), 1'000'001U);
  const std::int64_t taken =
      peak_memory_of([&] { read_process_stacks(read_paste(text), "paste.txt"); });
  EXPECT_LT(taken, 60 * kMiB) << "each holds 4 MiB";
}

// A dump's name makes the job wide; each of its groups that calls itself the default one has all ranks.
TEST(Hostile, GroupsOfAllRanksAreFew) {
  constexpr int kGroups = 60;
  const std::int64_t taken = peak_memory_of([] {
    Names names;
    RankDump dump;
    dump.rank = kMostRanks - 1;
    for (int i = 0; i < kGroups; ++i) {
      Call call;
      call.sequence = 1;
      call.group = names.add_group(static_cast<std::uint64_t>(i) + 1, [i] {
        return GroupName{fmt::format("{}", i), "default_pg"};
      });
      dump.calls.push_back(call);
    }
    const std::vector<RankDump> dumps{dump};
    const Job job(names, dumps, {});
    if (job.groups().size() != kGroups) std::abort();
  });
  const std::int64_t world = kMostRanks * std::int64_t{sizeof(RankView)};
  EXPECT_LT(taken, world + 100 * kMiB) << "each would hold 4 MiB";
}

}  // namespace
}  // namespace ringside::hang

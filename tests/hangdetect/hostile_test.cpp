// Numbers in dumps, logs and stacks that could size memory: the memory stays in proportion to the text.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"
#include "diag/hangdetect/readers/process_stacks.h"
#include "diag/hangdetect/readers/statements.h"
#include "diag/hangdetect/verdict/decide.h"
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

/// A job in which each rank waits alone: rank r in call r + 1 of the default group, the only call in its dump.
std::vector<RankDump> dumps_of_lone_ranks(int ranks, Names& names) {
  std::vector<RankDump> dumps(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    RankDump& dump = dumps[static_cast<std::size_t>(r)];
    dump.rank = r;
    Call call;
    call.sequence = static_cast<std::uint32_t>(r) + 1;
    call.group = names.add_group(1, [] { return GroupName{"0", "default_pg"}; });
    dump.calls.push_back(call);
  }
  return dumps;
}

/// Returns how many ranks all lists of the wait state have together.
std::size_t listed(const WaitState& state) {
  std::size_t sum = 0;
  for (const Front& one : state.fronts) {
    sum += one.waiting.size() + one.entered.size() + one.absent.size() + one.unseen.size();
  }
  for (const std::vector<int>& waits : state.waits) sum += waits.size();
  return sum;
}

// A front lists all members, and 2,000 of them would list 6 million ranks.
TEST(Hostile, ListsOfRanksThatWaitAloneGrowWithTheJob) {
  constexpr int kRanks = 2'000;
  Names names;
  const std::vector<RankDump> dumps = dumps_of_lone_ranks(kRanks, names);
  const Job job(names, dumps, {});
  const WaitState state = wait_state_of(job);
  EXPECT_EQ(state.fronts.size(), kMostFronts);
  EXPECT_LT(listed(state), 3 * kMostFronts * kRanks);
  // Rank 1,999 has no front of its own, and still waits for rank 0, which is furthest behind.
  EXPECT_EQ(state.front_of(kRanks - 1), nullptr);
  EXPECT_EQ(state.waits.back(), std::vector<int>{0});
  EXPECT_EQ(state.front_of(5)->absent, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Hostile, TheVerdictOnRanksThatWaitAloneDoesNotDependOnTheirNumber) {
  const auto verdict_of = [](int ranks) {
    Names names;
    const std::vector<RankDump> dumps = dumps_of_lone_ranks(ranks, names);
    const Job job(names, dumps, {});
    return decide(job, {}, {}).best;
  };
  const Explanation few = verdict_of(static_cast<int>(kMostFronts) - 4);
  const Explanation many = verdict_of(static_cast<int>(kMostFronts) * 4);
  EXPECT_EQ(few.kind, many.kind);
  EXPECT_EQ(few.culprits, many.culprits);
}

}  // namespace
}  // namespace ringside::hang

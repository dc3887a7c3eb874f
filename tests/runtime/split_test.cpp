// Parts of a communicator, on ranks that are threads.

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "engine/runtime/communicator.h"
#include "tests/runtime/ranks.h"

namespace ringside {
namespace {

CommunicatorOptions options() {
  CommunicatorOptions options;
  options.host.table_path = "";
  options.op_timeout = Seconds{20};
  options.connect_timeout = Seconds{20};
  return options;
}

/// Runs `body` on every rank of a communicator.
void with_communicator(int nranks, const std::function<void(runtime::Communicator&)>& body) {
  const auto root = make_root(nranks);
  run_ranks(first_ranks(nranks), [&](int rank) {
    auto made = runtime::Communicator::make(must_join(rank, nranks, root->id()), options());
    ASSERT_TRUE(made) << made.error().message;
    body(**made);
  });
}

/// Returns the sum of the ranks' numbers, by an all-reduce.
Result<int> sum_of(runtime::Communicator& communicator, int mine) {
  int sum = 0;
  CollectiveCall call;
  call.type = DataType::Int32;
  call.input = &mine;
  call.output = &sum;
  call.count = 1;
  RINGSIDE_TRY(communicator.run(call));
  return sum;
}

// Ranks 0, 2, 4 and 1, 3: 0 + 2 + 4 = 6, 1 + 3 = 4, while the whole still sums to 10.
TEST(Split, RanksOfOneColourReduceAmongThemselvesAndTheWholeLivesOn) {
  with_communicator(5, [](runtime::Communicator& all) {
    const int me = to_int(all.rank());
    auto part = all.split(me % 2);
    ASSERT_TRUE(part) << part.error().message;
    ASSERT_NE(*part, nullptr);
    EXPECT_EQ((*part)->nranks(), me % 2 == 0 ? 3 : 2);
    EXPECT_EQ(to_int((*part)->rank()), me / 2);
    EXPECT_EQ((*part)->name(), me % 2 == 0 ? "0/1.0" : "0/1.1");
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(*sum_of(**part, me), me % 2 == 0 ? 6 : 4);
      EXPECT_EQ(*sum_of(all, me), 10);
    }
    EXPECT_TRUE((*part)->finish());
    EXPECT_TRUE(all.finish());
  });
}

TEST(Split, KeysOrderTheRanksAndEqualOnesFollowTheParent) {
  with_communicator(4, [](runtime::Communicator& all) {
    const int me = to_int(all.rank());
    const auto turned = all.split(0, -me);
    ASSERT_TRUE(turned);
    EXPECT_EQ(to_int((*turned)->rank()), 3 - me);
    const auto same = all.split(0, 7);
    ASSERT_TRUE(same);
    EXPECT_EQ(to_int((*same)->rank()), me);
    EXPECT_EQ((*same)->name(), "0/2.0");
    EXPECT_TRUE((*turned)->finish());
    EXPECT_TRUE((*same)->finish());
    EXPECT_TRUE(all.finish());
  });
}

TEST(Split, ARankWithoutAColourIsInNoPart) {
  with_communicator(3, [](runtime::Communicator& all) {
    const int me = to_int(all.rank());
    const auto part = all.split(me == 1 ? std::nullopt : std::optional(4));
    ASSERT_TRUE(part);
    EXPECT_EQ(*part == nullptr, me == 1);
    if (*part) {
      EXPECT_EQ((*part)->nranks(), 2);
      EXPECT_EQ(*sum_of(**part, me), 2);
      EXPECT_TRUE((*part)->finish());
    }
    EXPECT_TRUE(all.finish());
  });
}

TEST(Split, PartsCanBeSplitAgain) {
  with_communicator(4, [](runtime::Communicator& all) {
    const int me = to_int(all.rank());
    const auto half = all.split(me / 2);
    ASSERT_TRUE(half);
    const auto alone = (*half)->split(me);
    ASSERT_TRUE(alone);
    EXPECT_EQ((*alone)->nranks(), 1);
    EXPECT_EQ(*sum_of(**alone, me), me);
    EXPECT_TRUE((*alone)->finish());
    EXPECT_TRUE((*half)->finish());
    EXPECT_TRUE(all.finish());
  });
}

TEST(Split, APartThatIsAbortedLeavesTheWholeAndTheOtherPartAlone) {
  with_communicator(4, [](runtime::Communicator& all) {
    const int me = to_int(all.rank());
    const auto part = all.split(me / 2);
    ASSERT_TRUE(part);
    if (me == 0) (*part)->abort({ErrorCode::Aborted, "enough"});
    if (me == 1) {
      const auto sum = sum_of(**part, me);
      ASSERT_FALSE(sum);
      EXPECT_NE(sum.error().message.find("enough"), std::string::npos);
    }
    if (me >= 2) {
      EXPECT_EQ(*sum_of(**part, me), 5);
      EXPECT_TRUE((*part)->finish());
    }
    EXPECT_EQ(*sum_of(all, me), 6);
    EXPECT_TRUE(all.finish());
  });
}

// Rank 1 is gone: 0 + 2 + 3 = 5, and again without rank 3: 0 + 2 = 2.
TEST(Shrink, RemainingRanksContinueAfterEachDeath) {
  with_communicator(4, [](runtime::Communicator& all) {
    const int me = to_int(all.rank());
    EXPECT_EQ(*sum_of(all, me), 6);
    if (me == 1) return;  // without a goodbye
    EXPECT_FALSE(sum_of(all, me));
    const auto three = all.shrink({Rank{1}});
    ASSERT_TRUE(three) << three.error().message;
    EXPECT_EQ((*three)->nranks(), 3);
    EXPECT_EQ(to_int((*three)->rank()), me == 0 ? 0 : me - 1);
    EXPECT_EQ((*three)->name(), "0/s1");
    EXPECT_EQ(*sum_of(**three, me), 5);
    if (me == 3) {
      EXPECT_TRUE((*three)->finish());
      return;
    }
    EXPECT_TRUE((*three)->finish());
    const auto two = all.shrink({Rank{1}, Rank{3}});
    ASSERT_TRUE(two) << two.error().message;
    EXPECT_EQ(*sum_of(**two, me), 2);
    EXPECT_TRUE((*two)->finish());
  });
}

TEST(Shrink, AnExcludedRankCannotCallItAndRanksMustBeRanks) {
  with_communicator(2, [](runtime::Communicator& all) {
    const auto own = all.shrink({all.rank()});
    ASSERT_FALSE(own);
    EXPECT_EQ(own.error().code, ErrorCode::InvalidArgument);
    EXPECT_FALSE(all.shrink({Rank{2}}));
    EXPECT_TRUE(all.finish());
  });
}

}  // namespace
}  // namespace ringside

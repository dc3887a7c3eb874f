#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "diag/audit/audit.h"
#include "diag/audit/join.h"
#include "diag/audit/shard.h"

// Compares the calls of the ranks: lost, torn or cut lines must not matter, different calls must.

namespace ringside::audit {
namespace {

/// A line of subsystem COLL; its size distinguishes it from others.
struct Line {
  int op_count = 0;
  int count = 0;
  std::string function = "AllReduce";
  bool is_torn = false;
  int root = 0, type = 7, op = 0;
};
using Program = std::vector<Line>;

/// Calls of these sizes, one after the other.
Program calls_of(const std::vector<int>& counts) {
  Program program;
  for (const int count : counts) program.push_back({static_cast<int>(program.size()), count});
  return program;
}

std::string prefix_of(std::size_t rank) {
  return fmt::format("n01:{0}:{0} [{1}] NCCL INFO ", 4000 + rank, rank);
}

std::string start_of(std::size_t rank, std::size_t nranks) {
  return prefix_of(rank) +
         fmt::format(
             "ncclCommInitRank comm 0x55aa{0}0 rank {0} nranks {1} cudaDev {0} nvmlDev {0} busId "
             "{2:x}000 commId 0x9f00c1d2e3f40516 - Init COMPLETE\n",
             rank, nranks, 0x1b + rank);
}

std::string line_of(std::size_t rank, std::size_t nranks, const Line& line) {
  std::string text =
      prefix_of(rank) +
      fmt::format(
          "{}: opCount {:x} sendbuff 0x7f{:x} recvbuff 0x7f00 count {} datatype {} op {} root {} "
          "comm 0x55aa{}0 [nranks={}] stream 0x66",
          line.function, line.op_count, line.op_count, line.count, line.type, line.op, line.root,
          rank, nranks);
  if (line.is_torn) return text.substr(0, text.find(" datatype"));  // the next line follows at once
  return text + "\n";
}

/// Each rank's lines behind each other.
std::string log_of(const std::vector<Program>& ranks) {
  std::string text;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) text += start_of(rank, ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Line& line : ranks[rank]) text += line_of(rank, ranks.size(), line);
  }
  return text;
}

std::vector<JobFacts::Desync> desyncs_of(const std::vector<Program>& ranks) {
  return audit_text(log_of(ranks)).facts.desyncs;
}

/// The ranks that are reported to differ.
std::vector<int> culprits_of(const std::vector<Program>& ranks) {
  std::vector<int> named;
  for (const JobFacts::Desync& desync : desyncs_of(ranks)) named.push_back(desync.rank);
  return named;
}

const std::vector<int> kNone = {};

Program without(Program program, std::size_t at, std::size_t many = 1) {
  const auto begin = program.begin() + static_cast<std::ptrdiff_t>(at);
  program.erase(begin, begin + static_cast<std::ptrdiff_t>(many));
  return program;
}

Program torn_at(Program program, std::size_t at) {
  program[at].is_torn = true;
  return program;
}

/// Replaces the call at that place of the program.
Program wrong_at(Program program, std::size_t at) {
  program[at].count += 1'000'000;
  return program;
}

Program with_still_counter(Program program) {
  for (Line& line : program) line.op_count = 0;
  return program;
}

const Program kStep = calls_of({8, 16, 16, 16, 32, 64, 8, 16, 16, 16, 32, 64, 128, 256});

TEST(CallsOfRanks, ALostLineGivesNoCulprit) {
  for (std::size_t at = 0; at < kStep.size(); ++at) {
    EXPECT_EQ(culprits_of({kStep, without(kStep, at), kStep}), kNone) << at;
    EXPECT_EQ(culprits_of({kStep, without(kStep, at)}), kNone) << at;
    EXPECT_EQ(culprits_of({without(kStep, at), kStep}), kNone) << at;
    EXPECT_EQ(culprits_of({without(kStep, at), without(kStep, at), kStep}), kNone) << at;
  }
}

TEST(CallsOfRanks, LinesLostInBlocksGiveNoCulprit) {
  EXPECT_EQ(culprits_of({kStep, without(kStep, 3, 5), without(kStep, 6, 7), kStep}), kNone);
  EXPECT_EQ(culprits_of({kStep, without(kStep, 0, 4), kStep}),
            kNone);  // its beginning was rotated away
  EXPECT_EQ(culprits_of({kStep, without(kStep, 11, 3), kStep}), kNone);  // it was killed
}

TEST(CallsOfRanks, ATornLineGivesNoCulprit) {
  for (std::size_t at = 0; at + 1 < kStep.size(); ++at) {
    EXPECT_EQ(culprits_of({kStep, torn_at(kStep, at), kStep}), kNone) << at;
  }
}

TEST(CallsOfRanks, ACallThatDiffersIsFoundInALogWithHoles) {
  EXPECT_EQ(culprits_of({kStep, wrong_at(without(kStep, 3), 8), kStep}), std::vector{1});
  EXPECT_EQ(culprits_of({kStep, without(kStep, 3), wrong_at(kStep, 9)}), std::vector{2});
  EXPECT_EQ(culprits_of({kStep, without(kStep, 3, 4), wrong_at(kStep, 4), kStep}), std::vector{2});
  EXPECT_EQ(culprits_of({torn_at(kStep, 2), without(kStep, 3), kStep, wrong_at(kStep, 12)}),
            std::vector{3});
}

TEST(CallsOfRanks, ASkippedCallLeavesNoHoleInTheCounter) {
  Program skipping = without(kStep, 4);
  for (std::size_t i = 0; i < skipping.size(); ++i) skipping[i].op_count = static_cast<int>(i);
  const auto desyncs = desyncs_of({kStep, skipping, kStep});
  ASSERT_EQ(desyncs.size(), 1U);
  EXPECT_EQ(desyncs[0].rank, 1);
  EXPECT_EQ(desyncs[0].call, 4U);
  EXPECT_NE(desyncs[0].text.find("count 64"), std::string::npos);
  EXPECT_NE(desyncs[0].expected.find("count 32"), std::string::npos);
}

TEST(CallsOfRanks, WithoutAMovingCounterALineThatIsMissingIsNotHeldAgainstTheRank) {
  const Program still = with_still_counter(kStep);
  for (std::size_t at = 0; at < still.size(); ++at) {
    EXPECT_EQ(culprits_of({still, without(still, at), still}), kNone) << at;
    EXPECT_EQ(culprits_of({still, without(still, at)}), kNone) << at;
    EXPECT_EQ(culprits_of({without(still, at), still}), kNone) << at;
  }
}

TEST(CallsOfRanks, WithoutAMovingCounterACallThatDiffersIsFound) {
  const Program still = with_still_counter(kStep);
  for (std::size_t at = 0; at < still.size(); ++at) {
    EXPECT_EQ(culprits_of({still, wrong_at(still, at), still}), std::vector{1}) << at;
  }
  EXPECT_EQ(culprits_of({still, without(still, 2), wrong_at(still, 9), still}), std::vector{2});
}

// A group of three calls is one plan: they show one count.
TEST(CallsOfRanks, CallsOfAGroupShareTheirCount) {
  Program grouped = kStep;
  for (std::size_t i = 0; i < grouped.size(); ++i) grouped[i].op_count = static_cast<int>(i / 3);
  EXPECT_EQ(culprits_of({grouped, grouped, grouped}), kNone);
  for (std::size_t at = 0; at < grouped.size(); ++at) {
    EXPECT_EQ(culprits_of({grouped, without(grouped, at), grouped}), kNone) << at;
    EXPECT_EQ(culprits_of({grouped, wrong_at(grouped, at), grouped}), std::vector{1}) << at;
  }
}

// Rank 0 sends once between two collectives, rank 1 twice: their counters move apart.
TEST(CallsOfRanks, SendsBetweenTheCollectivesMoveTheCountersApart) {
  Program one, two;
  for (const Line& line : kStep) {
    for (int i = 0; i < 1; ++i) one.push_back({static_cast<int>(one.size()), 4096, "Send"});
    for (int i = 0; i < 2; ++i) two.push_back({static_cast<int>(two.size()), 4096, "Recv"});
    one.push_back({static_cast<int>(one.size()), line.count});
    two.push_back({static_cast<int>(two.size()), line.count});
  }
  EXPECT_EQ(culprits_of({one, two, one, two}), kNone);
  EXPECT_EQ(culprits_of({one, without(two, 14), one, two}), kNone);  // 14 = 4 * 3 + 2: a collective
  EXPECT_EQ(culprits_of({one, wrong_at(two, 14), one, two}), std::vector{1});
}

TEST(CallsOfRanks, EachArgumentOfACallCounts) {
  const auto other = [](auto change) {
    Program program = kStep;
    change(program[5]);
    return culprits_of({kStep, program, kStep});
  };
  const std::vector<int> second = {1};
  EXPECT_EQ(other([](Line& line) { line.function = "Broadcast"; }), second);
  EXPECT_EQ(other([](Line& line) { line.count = 65; }), second);
  EXPECT_EQ(other([](Line& line) { line.type = 9; }), second);
  EXPECT_EQ(other([](Line& line) { line.op = 2; }), second);
  EXPECT_EQ(other([](Line& line) { line.root = 1; }), second);
}

// The sum allows the comparison to be skipped where it could find nothing.
TEST(CallSums, AreIndependentOfTheDivisionIntoPieces) {
  const std::vector<std::uint32_t> signatures = {7, 7, 9, 0xffffffff, 1, 7, 12, 3};
  CallSum whole;
  for (const std::uint32_t one : signatures) whole.add(one);
  for (std::size_t cut = 0; cut <= signatures.size(); ++cut) {
    CallSum first, second;
    for (std::size_t i = 0; i < signatures.size(); ++i) {
      (i < cut ? first : second).add(signatures[i]);
    }
    first.append(second);
    EXPECT_EQ(first, whole) << cut;
  }
}

TEST(CallSums, DifferByOrderByNumberAndByASingleCall) {
  const auto sum_of = [](const std::vector<std::uint32_t>& signatures) {
    CallSum sum;
    for (const std::uint32_t one : signatures) sum.add(one);
    return sum;
  };
  EXPECT_NE(sum_of({7, 9, 7}), sum_of({7, 7, 9}));
  EXPECT_NE(sum_of({7, 9}), sum_of({7, 9, 0}));
  EXPECT_NE(sum_of({0}), sum_of({0, 0}));
  EXPECT_NE(sum_of({7, 9, 7}), sum_of({7, 8, 7}));
}

TEST(CallSums, ExchangedCallsAreFoundWhereverTheLogIsCut) {
  Program exchanged = kStep;
  std::swap(exchanged[11].count, exchanged[12].count);
  const std::string text = log_of({kStep, exchanged, kStep});
  for (std::size_t part = 1; part < 8; ++part) {
    const std::size_t at = text.find('\n', text.size() * part / 8) + 1;
    std::vector<std::unique_ptr<Shard>> shards;
    for (const std::string_view half :
         {std::string_view(text).substr(0, at), std::string_view(text).substr(at)}) {
      parse_text(half, *shards.emplace_back(std::make_unique<Shard>()));
    }
    const JobFacts facts = join_shards(std::move(shards));
    ASSERT_EQ(facts.desyncs.size(), 1U) << part;
    EXPECT_EQ(facts.desyncs[0].rank, 1);
    EXPECT_EQ(facts.desyncs[0].call, 11U);
  }
}

// 200 programs of 60 calls on 5 ranks, each of which loses a tenth of its lines.
TEST(CallsOfRanks, RandomHolesGiveNoCulpritAndHideNoDifference) {
  std::mt19937 random(20261121);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  for (int round = 0; round < 200; ++round) {
    std::vector<int> counts(60);
    for (int& count : counts) count = static_cast<int>(1 + below(4)) * 1024;
    const Program program = calls_of(counts);
    const std::size_t wrong = below(60);
    std::vector<Program> sound(5), broken(5);
    for (std::size_t rank = 0; rank < 5; ++rank) {
      for (std::size_t i = 0; i < 60; ++i) {
        const bool is_lost = i != wrong && below(10) == 0;
        if (is_lost) continue;
        sound[rank].push_back(program[i]);
        broken[rank].push_back(program[i]);
        if (rank == 3 && i == wrong) broken[rank].back().count = 77;
      }
    }
    EXPECT_EQ(culprits_of(sound), kNone) << round;
    EXPECT_EQ(culprits_of(broken), std::vector{3}) << round;
  }
}

}  // namespace
}  // namespace ringside::audit

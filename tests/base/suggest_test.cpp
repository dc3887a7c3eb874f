#include "base/suggest.h"

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace ringside {
namespace {

TEST(EditDistance, CountsInsertDropReplaceAndSwap) {
  EXPECT_EQ(edit_distance("ring", "ring"), 0);
  EXPECT_EQ(edit_distance("rng", "ring"), 1);
  EXPECT_EQ(edit_distance("rings", "ring"), 1);
  EXPECT_EQ(edit_distance("rong", "ring"), 1);
  EXPECT_EQ(edit_distance("rign", "ring"), 1);
  EXPECT_EQ(edit_distance("", "ring"), 4);
  EXPECT_EQ(edit_distance("RING", "ring"), 0);
}

TEST(NearestWord, ReturnsTheIntendedWordOrNothing) {
  constexpr std::array<std::string_view, 3> kKnown{"all_reduce", "all_gather", "broadcast"};
  EXPECT_EQ(nearest_word("allreduce", kKnown), "all_reduce");
  EXPECT_EQ(nearest_word("brodcast", kKnown), "broadcast");
  EXPECT_EQ(nearest_word("xyz", kKnown), "");
}

TEST(NearestWord, AWholePartRanksAboveEdits) {
  constexpr std::array<std::string_view, 5> kKnown{"dgx-b200", "dgx-h100", "gb200-nvl72", "gh200",
                                                   "hgx-h200"};
  EXPECT_EQ(nearest_word("h200", kKnown), "hgx-h200") << "one edit from gh200";
  EXPECT_EQ(nearest_word("H200", kKnown), "hgx-h200");
  EXPECT_EQ(nearest_word("b200", kKnown), "dgx-b200") << "gb200 is another chip";
  EXPECT_EQ(nearest_word("gb200", kKnown), "gb200-nvl72");
  EXPECT_EQ(nearest_word("nvl72", kKnown), "gb200-nvl72");
  EXPECT_EQ(nearest_word("h20", kKnown), "") << "too short for two edits";
}

TEST(NearestWord, PrefersTheWordThatSharesMorePartsAmongEqualEdits) {
  constexpr std::array<std::string_view, 3> kKnown{"dgx-b200", "dgx-h100", "hgx-h200"};
  EXPECT_EQ(nearest_word("dgx-h200", kKnown), "hgx-h200");
}

TEST(NearestWord, OtherProgramsWordsHaveTheirMeaning) {
  constexpr std::array<std::string_view, 6> kTypes{"half",     "float",  "double",
                                                   "bfloat16", "f8e4m3", "f8e5m2"};
  for (const std::string_view word : {"float16", "fp16", "f16", "FP16"}) {
    EXPECT_EQ(nearest_word(word, kTypes), "half") << word;
  }
  for (const std::string_view word : {"bf16", "BF16", "bfloat"}) {
    EXPECT_EQ(nearest_word(word, kTypes), "bfloat16") << word;
  }
  for (const std::string_view word : {"float32", "fp32", "f32"}) {
    EXPECT_EQ(nearest_word(word, kTypes), "float") << word;
  }
  EXPECT_EQ(nearest_word("float64", kTypes), "double");
  EXPECT_EQ(nearest_word("fp8", kTypes), "f8e4m3");
  EXPECT_EQ(nearest_word("fp8_e5m2", kTypes), "f8e5m2");
  constexpr std::array<std::string_view, 2> kOthers{"bfloat16", "int8"};
  EXPECT_EQ(nearest_word("float16", kOthers), "bfloat16") << "where nothing is called half";
}

// A factor of eight.
TEST(NearestWord, DistinguishesBitsFromBytes) {
  constexpr std::array<std::string_view, 3> kUnits{"GB/s", "Gbit/s", "Mbit/s"};
  EXPECT_EQ(nearest_word("Gb/s", kUnits), "Gbit/s");
  EXPECT_EQ(nearest_word("Gbps", kUnits), "Gbit/s");
  EXPECT_EQ(nearest_word("gbps", kUnits), "Gbit/s");
  EXPECT_EQ(nearest_word("GBps", kUnits), "GB/s");
  EXPECT_EQ(nearest_word("Gbit", kUnits), "Gbit/s");
  constexpr std::array<std::string_view, 6> kTimes{"ns", "us", "ms", "s", "min", "h"};
  EXPECT_EQ(nearest_word("sec", kTimes), "s");
  EXPECT_EQ(nearest_word("usec", kTimes), "us");
}

TEST(NearestWord, ABeginningIsBetterThanManyEdits) {
  constexpr std::array<std::string_view, 4> kKnown{"sim", "bench", "validate", "reproduce"};
  EXPECT_EQ(nearest_word("simulate", kKnown), "sim");
  EXPECT_EQ(nearest_word("benchmark", kKnown), "bench");
  EXPECT_EQ(nearest_word("repro", kKnown), "reproduce");
  EXPECT_EQ(nearest_word("re", kKnown), "") << "two letters say little";
}

TEST(NearestWord, AnEmptyWordHasNoNearestWord) {
  constexpr std::array<std::string_view, 3> kKnown{"a", "ab", "shm"};
  EXPECT_EQ(nearest_word("", kKnown), "");
  EXPECT_EQ(nearest_word("--", kKnown), "");
  EXPECT_EQ(nearest_word("shm", std::span<const std::string_view>()), "");
}

TEST(Suggestion, AsksAndLists) {
  constexpr std::array<std::string_view, 2> kKnown{"sim", "bench"};
  EXPECT_EQ(suggestion("bnech", kKnown), "did you mean 'bench'? known: sim, bench");
  EXPECT_EQ(suggestion("wonderful", kKnown), "known: sim, bench");
}

}  // namespace
}  // namespace ringside

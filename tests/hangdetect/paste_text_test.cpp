#include "diag/hangdetect/readers/paste_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::hang {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::string& paste) {
  std::vector<std::string> out;
  for (const PasteLine& line : read_paste(paste)) out.push_back(line.text);
  return out;
}

const std::string kTimeout =
    "[rank3]:[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught "
    "collective operation "
    "timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) "
    "ran for 600034 "
    "milliseconds before timing out.";

TEST(PasteText, ALineThatATerminalCutWithinWordsIsOneAgain) {
  std::string cut;
  for (std::size_t at = 0; at < kTimeout.size(); at += 80) cut += kTimeout.substr(at, 80) + "\n";
  EXPECT_THAT(texts(cut), ElementsAre(kTimeout));
}

TEST(PasteText, ALineThatAnEditorFilledAndSomebodyQuotedIsOneAgain) {
  std::string filled;
  std::string rest = kTimeout;
  while (rest.size() > 90) {
    const std::size_t blank = rest.rfind(' ', 90);
    filled += "> " + rest.substr(0, blank) + "\n";
    rest.erase(0, blank + 1);
  }
  filled += "> " + rest;
  EXPECT_THAT(texts(filled + "\n"), ElementsAre(kTimeout));
}

// Both lines are as wide as the text, and neither continues the other.
TEST(PasteText, LinesThatBeginByThemselvesStayApart) {
  const std::string frame =
      "    wrapper (torch/distributed/elastic/multiprocessing/errors/__init__.py:345)\n";
  EXPECT_EQ(texts(frame + frame).size(), 2U);
  EXPECT_EQ(texts(kTimeout + "\n" + kTimeout + "\n").size(), 2U);
}

TEST(PasteText, TimesPodNamesAndColoursBeforeEveryLineGo) {
  const auto lines = read_paste(
      "2026-03-14T09:00:00.1Z worker-0 \x1b[31mrank 3 waits\x1b[0m\r\n2026-03-14T09:00:01.1Z "
      "worker-12 rank 4 "
      "waits\r\n2026-03-14T09:00:02.1Z worker-0\r\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].text, "rank 3 waits");
  EXPECT_EQ(lines[0].stamp, "2026-03-14T09:00:00.1Z");
  EXPECT_EQ(lines[1].text, "rank 4 waits");
}

// One line of three has it: it belongs to the program's text.
TEST(PasteText, ANameThatFewLinesHaveStays) {
  EXPECT_THAT(texts("worker-0 came up\nstep 1\nstep 2\n"),
              ElementsAre("worker-0 came up", "step 1", "step 2"));
}

TEST(PasteText, RankTagsAndNcclsPrefixAreNotLabels) {
  EXPECT_THAT(texts("[rank3]: a\n[rank3]: b\n"), ElementsAre("[rank3]: a", "[rank3]: b"));
  EXPECT_THAT(texts("node-0:41:41 [0] NCCL INFO x\nnode-0:41:41 [0] NCCL INFO y\n"),
              ElementsAre("node-0:41:41 [0] NCCL INFO x", "node-0:41:41 [0] NCCL INFO y"));
}

TEST(PasteText, AViewersLineNumbersGoAndSrunsLabelsStay) {
  EXPECT_THAT(texts("[70] one\n[71] two\n[72] three\n"), ElementsAre("one", "two", "three"));
  EXPECT_THAT(texts("3: one\n1: two\n3: three\n"), ElementsAre("3: one", "1: two", "3: three"));
}

TEST(PasteText, FencesAndGapsAreNotLinesAndNumbersAreTheFiles) {
  const auto lines = read_paste("```\none\n...\ntwo\n```\n\nthree\n");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].number, 4);
  EXPECT_FALSE(lines[1].follows_blank) << "a gap parts nothing";
  EXPECT_EQ(lines[2].number, 7);
  EXPECT_TRUE(lines[2].follows_blank);
}

// PowerShell's `>` writes UTF-16. A letter, an umlaut, an arrow, a face beyond the first plane.
TEST(PasteText, TextInUtf16IsReadByItsMark) {
  const std::string plain = "aB\u00fc\u2190\U0001F600\n";
  std::string little = "\xff\xfe";
  std::string big = "\xfe\xff";
  for (const char16_t unit : std::u16string(u"aB\u00fc\u2190\U0001F600\n")) {
    const char low = static_cast<char>(unit & 0xFF);
    const char high = static_cast<char>(unit >> 8);
    little += {low, high};
    big += {high, low};
  }
  EXPECT_EQ(as_utf8(little), plain);
  EXPECT_EQ(as_utf8(big), plain);
  EXPECT_EQ(as_utf8(plain), plain);
  EXPECT_EQ(as_utf8("\xff\xfe\x3d"), "") << "half a character";
}

TEST(PasteText, TerminatesOnAnyInput) {
  EXPECT_TRUE(read_paste("").empty());
  EXPECT_TRUE(read_paste("\n\n>\n> >\n\x1b[\n").empty());
  EXPECT_EQ(read_paste(std::string(1 << 20, 'x')).size(), 1U);
}

}  // namespace
}  // namespace ringside::hang

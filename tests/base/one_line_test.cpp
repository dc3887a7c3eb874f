#include "base/one_line.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(OneLine, PlainTextIsUnchanged) {
  EXPECT_EQ(one_line("all_reduce of 'default_pg' # 1: \"a\" \\n"),
            "all_reduce of 'default_pg' # 1: \"a\" \\n");
  EXPECT_EQ(one_line("gr\xc3\xb6\xc3\x9f"
                     "er \xe4\xb8\xad \xf0\x9f\x98\x80"),
            "gr\xc3\xb6\xc3\x9f"
            "er \xe4\xb8\xad \xf0\x9f\x98\x80");
  EXPECT_EQ(one_line(""), "");
}

TEST(OneLine, LineBreaksOfAllKindsAreShown) {
  EXPECT_EQ(one_line("a\nb\r\nc\td"), "a\\x0ab\\x0d\\x0ac\\x09d");
  EXPECT_EQ(one_line("\xc2\x85"), "\\xc2\\x85") << "next line";
  EXPECT_EQ(one_line("\xe2\x80\xa8|\xe2\x80\xa9"), "\\xe2\\x80\\xa8|\\xe2\\x80\\xa9");
}

TEST(OneLine, EscapesTerminalControlCharacters) {
  EXPECT_EQ(one_line("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "2J"),
            "\\xc2\\x9b2J")
      << "the one-character form of ESC [";
  EXPECT_EQ(one_line("\xe2\x80\xae|\xe2\x81\xa6"), "\\xe2\\x80\\xae|\\xe2\\x81\\xa6")
      << "right-to-left override and isolate";
  EXPECT_EQ(one_line("\xd8\x9c|\xd8\x9b"), "\\xd8\\x9c|\xd8\x9b")
      << "Arabic letter mark and semicolon";
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(OneLine, BytesThatAreNotUtf8AreShown) {
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(one_line("\xc0\xaf"), "\\xc0\\xaf") << "a slash, written too long";
  EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(one_line("\xe4\xb8"), "\\xe4\\xb8") << "cut";
}

}  // namespace
}  // namespace ringside

#include "base/python_string.h"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(PythonString, TextStaysInsideItsQuotes) {
  EXPECT_EQ(python_string("all_reduce 'a' {x} #"), R"("all_reduce 'a' {x} #")");
  EXPECT_EQ(python_string(R"("); import os; os.system("id)"),
            R"("\"); import os; os.system(\"id")");
  EXPECT_EQ(python_string(R"(\)"), R"("\\")") << "a backslash does not escape the closing quote";
  EXPECT_EQ(python_string(R"(\")"), R"("\\\"")");
  EXPECT_EQ(python_string(""), R"("")");
}

TEST(PythonString, TextStaysOnOneLine) {
  EXPECT_EQ(python_string("a\nb\r\f"), R"("a\\x0ab\\x0d\\x0c")");
  EXPECT_EQ(python_string("\xe2\x80\xa8"), R"("\\xe2\\x80\\xa8")");
  EXPECT_EQ(python_string("\xff"), R"("\\xff")") << "the script stays UTF-8";
  EXPECT_EQ(python_string("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

}  // namespace
}  // namespace ringside

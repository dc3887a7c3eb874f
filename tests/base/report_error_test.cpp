#include "base/report_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ReportError, ControlCharactersOfForeignTextDoNotReachTheTerminal) {
  testing::internal::CaptureStderr();
  print_error({ErrorCode::System, "a\x1b[2J\nb", "c\x7f"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: a\\x1b[2J\nb\nhelp:  c\\x7f\n");
}

TEST(ReportError, AnUnexpectedExceptionIsAnErrorLikeOthers) {
  testing::internal::CaptureStderr();
  int status = 0;
  try {
    throw std::runtime_error("no such \x1bthing");
  } catch (...) {
    status = report_exception();
  }
  EXPECT_EQ(status, 3);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, StartsWith("error: unexpected exception: no such \\x1bthing\nhelp:  "));
}

TEST(ReportErrorDeathTest, AThreadsExceptionEndsTheProgramInOrder) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        report_exceptions_of_threads();
        std::thread([] { throw 7; }).join();
      },
      testing::ExitedWithCode(3), "error: unexpected exception: an exception of an unknown type");
}

}  // namespace
}  // namespace ringside

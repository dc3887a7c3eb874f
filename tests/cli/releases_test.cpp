#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.h"

namespace ringside {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// 2.32 is one data file on top of 2.31: each verb accepts it, and reports that it was not compared with NCCL.
TEST(Releases, AnUnverifiedReleaseWorksInEveryVerbWithANote) {
  const std::string folder = temporary_path("logs");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"topo", "--on", "dgx-b200"},
           {"explain", "all_reduce", "--bytes", "1M", "--on", "dgx-b200"},
           {"sim", "all_reduce", "--bytes", "1M", "--on", "dgx-b200"},
           {"generate", "logs", "--on", "dgx-b200", "-o", folder}}) {
    SCOPED_TRACE(words.front());
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--nccl", "2.32"});
    const Outcome outcome = run_program(asked);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("note: NCCL 2.32 is not verified: "));

    std::filesystem::remove_all(folder);
    asked.back() = "2.31";
    const Outcome verified = run_program(asked);
    EXPECT_EQ(verified.status, 0) << verified.err;
    EXPECT_THAT(verified.err, IsEmpty());
  }
  std::filesystem::remove_all(folder);

  const Outcome varied = run_program(
      {"sim", "all_reduce", "--bytes", "1M", "--on", "dgx-b200", "--vary", "nccl=2.31,2.32"});
  EXPECT_EQ(varied.status, 0) << varied.err;
  EXPECT_THAT(varied.err, HasSubstr("note: NCCL 2.32 is not verified: "));

  const Outcome logs = run_program(
      {"generate", "logs", "--on", "dgx-b200", "--nodes", "2", "-o", folder, "--nccl", "2.32"});
  ASSERT_EQ(logs.status, 0) << logs.err;
  const Outcome audit = run_program({"audit", folder});
  EXPECT_EQ(audit.status, 0) << audit.out << audit.err;
  EXPECT_THAT(audit.out, HasSubstr("NCCL 2.32.3"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ringside

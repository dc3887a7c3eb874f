#include "engine/debuglog/line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "engine/debuglog/cpu_list.h"

namespace ringside {
namespace {

DebugLog log_of_version(NcclVersion version) {
  DebugLog log{version, Subsystem::Init, "n01", 411};
  log.set_time({.seconds = 1'740'823'872});  // 2025-03-01 10:11:12 UTC
  return log;
}

constexpr WarnPlace kPlace{"misc/socket.cc", 58, "socketProgress"};

TEST(DebugLog, AnInfoLineNamesHostProcessThreadAndDevice) {
  DebugLog log = log_of_version({21, 5});
  log.info(Subsystem::Init, {980, 3}, "Using network IB");
  EXPECT_EQ(log.text(), "n01:411:980 [3] NCCL INFO Using network IB\n");
}

TEST(DebugLog, HidesSubsystemsThatAreNotRequested) {
  DebugLog log = log_of_version({21, 5});
  log.info(Subsystem::Graph, {980, 3}, "Ring 00 : 0 -> 1 -> 2");
  EXPECT_EQ(log.text(), "");
  log.info(Subsystem::Graph | Subsystem::Init, {980, 3}, "seen");
  log.info({980, 3}, "init.cc:1 -> 2");
  EXPECT_EQ(log.take(),
            "n01:411:980 [3] NCCL INFO seen\nn01:411:980 [3] NCCL INFO init.cc:1 -> 2\n");
  EXPECT_EQ(log.text(), "") << "take() hands it over";
}

TEST(DebugLog, AWarningFollowsAnEmptyLine) {
  DebugLog log = log_of_version({21, 5});
  log.warn({990, 7}, kPlace, "gone");
  EXPECT_EQ(log.text(), "\nn01:411:990 [7] misc/socket.cc:58 NCCL WARN gone\n");
}

TEST(DebugLog, AWarningHasTheTimeSince226) {
  DebugLog log = log_of_version({26, 6});
  log.warn({990, 7}, kPlace, "gone");
  EXPECT_EQ(log.text(),
            "\n[2025-03-01 10:11:12] n01:411:990 [7] misc/socket.cc:58 NCCL WARN gone\n");
}

TEST(DebugLog, AWarningHasTheFunctionSince230) {
  DebugLog log = log_of_version({30, 7});
  log.warn({990, 7}, kPlace, "gone");
  EXPECT_EQ(log.text(),
            "\n[2025-03-01 10:11:12] n01:411:990 [7] misc/socket.cc:58 (socketProgress) NCCL WARN "
            "gone\n");
}

TEST(DebugLog, From226OnTimesPrecedeTheRequestedLevels) {
  const Environment environment = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "NCCL_DEBUG_TIMESTAMP_LEVELS") return "INFO";
    if (std::string_view(name) == "NCCL_DEBUG_TIMESTAMP_FORMAT") return "%H:%M:%S.%3f_";
    return std::nullopt;
  };
  const Timestamps times = Timestamps::from(environment, Timestamps::Zone::Utc);
  for (const NcclVersion version : {NcclVersion{25, 1}, NcclVersion{26, 6}}) {
    DebugLog log{version, Subsystem::Init, "n01", 411, times};
    log.set_time({.seconds = 1'740'823'872, .nanoseconds = 45'600'000});
    log.info(Subsystem::Init, {980, 3}, "seen");
    EXPECT_EQ(log.text(), std::string(version.is_before(26) ? "" : "10:11:12.045 ") +
                              "n01:411:980 [3] NCCL INFO seen\n");
    log.take();
    log.warn({990, 7}, kPlace, "gone");
    EXPECT_EQ(log.text(), "\nn01:411:990 [7] misc/socket.cc:58 NCCL WARN gone\n");
  }
}

// The buffer of 1024 bytes ends in a zero.
TEST(DebugLog, LinesAreCutAt1023CharactersUntil228) {
  const std::string message(2000, 'x');
  DebugLog old = log_of_version({28, 9});
  old.info(Subsystem::Init, {980, 3}, message);
  EXPECT_EQ(old.text().size(), 1024U) << "with the newline";
  DebugLog later = log_of_version({29, 7});
  later.info(Subsystem::Init, {980, 3}, message);
  EXPECT_GT(later.text().size(), 2000U);
}

TEST(CpuList, TurnsMasksIntoRanges) {
  EXPECT_EQ(cpu_list("ffffffff"), "0-31");
  EXPECT_EQ(cpu_list("ffffffff,00000000"), "32-63");
  EXPECT_EQ(cpu_list("5"), "0,2");
  EXPECT_EQ(cpu_list("ffff,ffff0000,0000ffff"), "0-15,48-79");
  EXPECT_EQ(cpu_list("all"), "all") << "no mask";
}

}  // namespace
}  // namespace ringside

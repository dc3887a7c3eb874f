#include "engine/debuglog/settings.h"

#include <gtest/gtest.h>

#include <map>

namespace ringside {
namespace {

DebugSettings settings_of(const std::map<std::string, std::string>& variables) {
  const Environment environment = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return debug_settings(environment, NcclVersion{}, "n01", 411);
}

TEST(DebugSettings, ALevelShowsWhatThoseBeforeItShow) {
  EXPECT_FALSE(settings_of({}).level) << "not set";
  EXPECT_FALSE(settings_of({}).has(DebugLevel::None));
  const DebugSettings info = settings_of({{"NCCL_DEBUG", "Info"}});
  EXPECT_TRUE(info.has(DebugLevel::Version) && info.has(DebugLevel::Info));
  EXPECT_FALSE(info.has(DebugLevel::Trace));
  EXPECT_FALSE(settings_of({{"NCCL_DEBUG", "version"}}).has(DebugLevel::Warn));
  for (const char* word : {"NONE", "LOUD", "1", "INFO,WARN", "^INFO"}) {
    EXPECT_EQ(settings_of({{"NCCL_DEBUG", word}}).level, DebugLevel::None) << word;
  }
}

TEST(DebugSettings, ShowsTheVersionsDefaultSubsystemsUnlessSet) {
  EXPECT_EQ(settings_of({}).shown, default_subsystems(NcclVersion{}));
  EXPECT_EQ(settings_of({{"NCCL_DEBUG_SUBSYS", "coll,NOTHING"}}).shown, Subsystem::Coll);
  EXPECT_FALSE(settings_of({{"NCCL_DEBUG_SUBSYS", "^COLL"}}).shown.meets(Subsystem::Coll));
}

TEST(DebugSettings, TheFileHasTheHostAndTheProcessInItsName) {
  const auto file_of = [](const std::string& level, const std::string& pattern) {
    return settings_of({{"NCCL_DEBUG", level}, {"NCCL_DEBUG_FILE", pattern}}).file;
  };
  EXPECT_EQ(file_of("INFO", "/tmp/nccl.%h.%p.log"), "/tmp/nccl.n01.411.log");
  EXPECT_EQ(file_of("WARN", "100%%-%q-%"), "100%-%q-%") << "other letters stay";
  EXPECT_EQ(file_of("VERSION", "/tmp/x"), "") << "the version goes to the standard stream";
}

TEST(LogHost, IsCutAtItsFirstDot) {
  EXPECT_EQ(log_host({28, 9}, "n01.cluster"), "n01");
  EXPECT_EQ(log_host({28, 9}, "a/b%c"), "a/b%c");
  EXPECT_EQ(log_host({29, 7}, "a/b%c.d"), "a-b-c");
}

TEST(Timestamps, AreBeforeWarningsUnlessOtherLevelsAreNamed) {
  const auto times_of = [](const std::string& levels) {
    return settings_of({{"NCCL_DEBUG_TIMESTAMP_LEVELS", levels}}).times;
  };
  EXPECT_TRUE(settings_of({}).times.shows(DebugLevel::Warn));
  EXPECT_FALSE(settings_of({}).times.shows(DebugLevel::Info));
  EXPECT_TRUE(times_of("all").shows(DebugLevel::Info));
  EXPECT_FALSE(times_of("INFO").shows(DebugLevel::Warn));
  EXPECT_TRUE(times_of("^INFO").shows(DebugLevel::Warn));
  EXPECT_FALSE(times_of("^INFO").shows(DebugLevel::Info));
}

TEST(Timestamps, FollowTheFormatWithPartsOfASecond) {
  const auto text_of = [](const std::string& format) {
    const Environment environment = [&](const char* name) -> std::optional<std::string> {
      return std::string_view(name) == "NCCL_DEBUG_TIMESTAMP_FORMAT" ? std::optional(format)
                                                                     : std::nullopt;
    };
    return Timestamps::from(environment, Timestamps::Zone::Utc)
        .text({.seconds = 1'740'823'872, .nanoseconds = 123'456'789});
  };
  EXPECT_EQ(text_of("%T.%6f_"), "10:11:12.123456 ");
  EXPECT_EQ(text_of("%%3f %9f"), "%3f 123456789") << "a percent sign is no field";
  EXPECT_EQ(text_of(std::string(256, 'x')), "[2025-03-01 10:11:12] ") << "longer than 255";
}

}  // namespace
}  // namespace ringside

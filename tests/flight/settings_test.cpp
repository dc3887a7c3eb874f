#include "engine/flight/settings.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/environment_table.h"

namespace ringside {
namespace {

TEST(FlightSettings, ByDefaultCallsAreRecordedAndNoDumpIsWritten) {
  const auto settings = flight_settings(environment_of({}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->capacity, 2000U);
  EXPECT_TRUE(settings->prefix.empty());
  EXPECT_TRUE(settings->dumps_on_failure);
  EXPECT_FALSE(settings->has_timing);
}

TEST(FlightSettings, BothNamesCountAndTheNewerGoesFirst) {
  const auto old = flight_settings(environment_of({{"TORCH_NCCL_TRACE_BUFFER_SIZE", "7"},
                                                   {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/a"},
                                                   {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"},
                                                   {"TORCH_NCCL_TRACE_CPP_STACK", "TRUE"}}));
  ASSERT_TRUE(old);
  EXPECT_EQ(old->capacity, 7U);
  EXPECT_EQ(old->prefix, "/a");
  EXPECT_FALSE(old->dumps_on_failure);
  EXPECT_TRUE(old->has_stacks);
  const auto both = flight_settings(environment_of({{"TORCH_NCCL_TRACE_BUFFER_SIZE", "7"},
                                                    {"TORCH_FR_BUFFER_SIZE", "9"},
                                                    {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/a"},
                                                    {"TORCH_FR_DUMP_TEMP_FILE", "/b"},
                                                    {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"},
                                                    {"TORCH_FR_DUMP_ON_TIMEOUT", "1"}}));
  EXPECT_EQ(both->capacity, 9U);
  EXPECT_EQ(both->prefix, "/b");
  EXPECT_TRUE(both->dumps_on_failure);
}

TEST(FlightSettings, NamesInvalidNumbersAndFlags) {
  const auto size = flight_settings(environment_of({{"TORCH_FR_BUFFER_SIZE", "many"}}));
  ASSERT_FALSE(size);
  EXPECT_NE(size.error().message.find("TORCH_FR_BUFFER_SIZE"), std::string::npos);
  const auto flag = flight_settings(environment_of({{"TORCH_NCCL_ENABLE_TIMING", "maybe"}}));
  ASSERT_FALSE(flag);
  EXPECT_NE(flag.error().message.find("TORCH_NCCL_ENABLE_TIMING=maybe"), std::string::npos);
}

TEST(FlightSettings, WithoutErrorHandlingOnlyAwaitedCallsTimeOut) {
  const auto ends = [](const std::map<std::string, std::string>& table) {
    const auto settings = flight_settings(environment_of(table));
    return settings && settings->ends_at_timeout;
  };
  EXPECT_TRUE(ends({}));
  EXPECT_TRUE(ends({{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"}}));
  EXPECT_FALSE(ends({{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}}));
  EXPECT_FALSE(ends({{"NCCL_ASYNC_ERROR_HANDLING", "0"}}));
  EXPECT_TRUE(ends({{"NCCL_ASYNC_ERROR_HANDLING", "0"}, {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "3"}}));
  EXPECT_TRUE(ends({{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}, {"TORCH_NCCL_BLOCKING_WAIT", "1"}}));
  EXPECT_FALSE(flight_settings(environment_of({{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "4"}})));
}

TEST(FlightSettings, ReadsTheMonitorsHeartbeatAndTheDesyncReport) {
  EXPECT_EQ(flight_settings(environment_of({}))->heartbeat, std::chrono::seconds(480));
  EXPECT_FALSE(flight_settings(environment_of({}))->reports_desync);
  const auto settings = flight_settings(environment_of(
      {{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "20"}, {"TORCH_NCCL_DESYNC_DEBUG", "1"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->heartbeat, std::chrono::seconds(20));
  EXPECT_TRUE(settings->reports_desync);
  const auto off = flight_settings(environment_of(
      {{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "20"}, {"TORCH_NCCL_ENABLE_MONITORING", "0"}}));
  ASSERT_TRUE(off);
  EXPECT_EQ(off->heartbeat, Nanoseconds{0});
  EXPECT_FALSE(flight_settings(environment_of({{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "0"}})));
}

TEST(FlightSettings, ThePipeAndTheTimeForADumpAreTakenOver) {
  const auto settings =
      flight_settings(environment_of({{"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "/run/dump_"},
                                      {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "150"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->pipe, "/run/dump_");
  EXPECT_EQ(settings->dump_wait, std::chrono::milliseconds(150));
  EXPECT_EQ(flight_settings(environment_of({}))->dump_wait, std::chrono::seconds(2));
}

}  // namespace
}  // namespace ringside

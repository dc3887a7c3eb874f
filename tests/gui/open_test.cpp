// What may be opened beside traces.

#include "gui/model/open.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "engine/topology/load_hosts.h"
#include "harness/logs/log_files.h"
#include "harness/logs/log_job.h"
#include "harness/logs/misconfiguration.h"

namespace ringside::gui {
namespace {

/// Two hosts' logs, of four all_reduces of one communicator, with something wrong.
std::string logs_of(const char* misconfiguration) {
  const std::string folder = testing::TempDir() + "ringside_open_" + std::to_string(::getpid());
  std::filesystem::remove_all(folder);
  LogRequest request;
  request.version = *parse_nccl_version("2.27.5");
  request.shown = *parse_subsystems("INIT,GRAPH,NET,COLL");
  request.hosts = *load_hosts("dgx-h100", 2, {});
  request.calls = 4;
  EXPECT_TRUE(misconfigure(misconfiguration, request));
  const auto job = LogJob::make(std::move(request));
  EXPECT_TRUE(job);
  EXPECT_TRUE(write_log_files(*job, folder));
  return folder;
}

TEST(Open, LogsAreShownAsTheCallsThatTheyHoldOnTheHostsThatTheyDescribe) {
  const std::string folder = logs_of("gdr");
  const auto opened = open_paths({folder});
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(opened) << opened.error().message;
  const Document& document = **opened;
  EXPECT_EQ(document.replay->statistics().ranks, 16);
  EXPECT_EQ(document.calls.size(), 4U);
  const auto has = [&](const char* words) {
    return std::ranges::any_of(document.findings, [&](const Finding& one) {
      return one.title.find(words) != std::string::npos;
    });
  };
  EXPECT_TRUE(has("Simulated"));
  EXPECT_TRUE(has("GPUDirect"));
}

// Of which nothing hangs: every rank's calls are shown all the same.
TEST(Open, AScenarioThatFinishesIsShown) {
  const auto opened = open_paths({RINGSIDE_SCENARIOS "/training/ddp-8.yaml"});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ((*opened)->replay->statistics().ranks, 8);
  EXPECT_GT((*opened)->calls.size(), 10U);
}

TEST(Open, WhatIsNeitherDumpsNorLogsIsRefused) {
  const std::string folder =
      testing::TempDir() + "ringside_open_none_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  const auto opened = open_paths({folder});
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(opened);
  EXPECT_FALSE(opened.error().message.empty());
}

}  // namespace
}  // namespace ringside::gui

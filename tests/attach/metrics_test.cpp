#include "harness/attach/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "base/temporary.h"
#include "harness/attach/http_client.h"
#include "tests/attach/fake_service.h"

namespace ringside::attach {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string sample(const hang::RasReport& report) {
  return metrics_text({.is_answering = true,
                       .state = JobState::Still,
                       .since_progress = Seconds{12.5},
                       .report = &report,
                       .hang = "missing_rank",
                       .culprits = {1},
                       .confidence = 0.9});
}

TEST(Metrics, OfAHungJobNameTheStateTheCountsAndTheCulprit) {
  const auto report = hang::parse_ras_report(ras_json({5, 4, -1}));
  ASSERT_TRUE(report);
  const std::string text = sample(*report);
  EXPECT_THAT(text, HasSubstr("ringside_job_state{state=\"still\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ringside_seconds_since_progress 12.500\n"));
  EXPECT_THAT(text, HasSubstr("ringside_hang{kind=\"missing_rank\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ringside_hang_culprit{rank=\"1\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("ringside_calls_launched{comm_hash=\"0xab\",nranks=\"3\",rank=\"1\","
                        "node=\"10.0.0.1\",pid=\"1001\",gpu=\"1\",collective=\"AllReduce\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("rank=\"2\",node=\"10.0.0.1\",pid=\"1002\",gpu=\"2\"} 0\n"));
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(Metrics, ForeignTextStaysInsideItsLabel) {
  std::string hostile = ras_json({5, 4});
  const std::string host = "10.0.0.1";
  hostile.replace(hostile.find(host), host.size(), "a\\\"} 1\\nevil 2 \\\\");
  const auto report = hang::parse_ras_report(hostile);
  ASSERT_TRUE(report);
  const std::string text = sample(*report);
  EXPECT_THAT(text, Not(HasSubstr("\nevil")));
  EXPECT_THAT(text, HasSubstr("node=\"a\\\"} 1"));
}

TEST(Metrics, PromtoolTakesThem) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs promtool";
  const auto report = hang::parse_ras_report(ras_json({5, 4, -1}));
  ASSERT_TRUE(report);
  const auto folder = TemporaryFolder::make("metrics-test");
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/metrics";
  std::ofstream(path) << sample(*report);
  EXPECT_EQ(std::system(("promtool check metrics <" + path + " 2>&1").c_str()), 0);
}

TEST(MetricsPort, ServesTheNewestText) {
  const auto port = MetricsPort::open(0);
  ASSERT_TRUE(port) << port.error().message;
  (*port)->publish("ringside_up 1\n# EOF\n");
  const Place place{HostPort{"127.0.0.1", (*port)->port()}, {}};
  const auto got = http_get(place, "/metrics", 1000, deadline_in(std::chrono::seconds(20)));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "ringside_up 1\n# EOF\n");
}

}  // namespace
}  // namespace ringside::attach

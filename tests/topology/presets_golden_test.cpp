#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/channels/job.h"
#include "engine/topology/load_hosts.h"
#include "tests/support/golden_compare.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

struct Twin {
  const char* preset;
  std::optional<int> nvl_domain = {};  ///< where the golden machine joins fewer hosts
};

/// Golden topologies that a preset describes.
const std::map<std::string, Twin> kTwins{{"dgx-1v", {"dgx-1v"}},
                                         {"dgx-a100", {"dgx-a100"}},
                                         {"dgx-h100", {"dgx-h100"}},
                                         {"dgx-b200", {"dgx-b200"}},
                                         {"dgx-station-a100", {"dgx-station-a100"}},
                                         {"gb200-nvl72", {"gb200-nvl72"}},
                                         {"gb300-2tray", {"gb300-nvl72", 2}},
                                         {"gh200-1gpu", {"gh200"}},
                                         {"dgx-spark", {"dgx-spark"}},
                                         {"aws-p4d", {"aws-p4d"}},
                                         {"aws-p5-ofi8", {"aws-p5"}},
                                         {"azure-ndv4", {"azure-ndv4"}},
                                         {"azure-ndv5", {"azure-ndv5"}},
                                         {"perlmutter-a100", {"perlmutter-a100"}},
                                         {"aws-g5-48xl", {"aws-g5-48xl"}},
                                         {"a10-4-dualsocket", {"4x-a10"}},
                                         {"l4-2", {"2x-l4"}},
                                         {"gpu1-25g", {"one-gpu-one-nic"}}};

/// GUIDs name a card; a preset's stand for cards of its own.
std::string joined(const oracle::Comparison& comparison) {
  std::string text;
  for (const std::string& difference : comparison.differences) {
    if (difference.find("guid") == std::string::npos) text += "\n  " + difference;
  }
  return text;
}

// One node and two: what differs between hosts shows there, and the rest is the joining of nodes.
TEST(PresetsGolden, LeadToWhatNcclDecidesOnTheMachinesThatTheyDescribe) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  int compared = 0;
  for (const std::string& name : oracle::golden_names()) {
    const Json golden = oracle::load_golden(name);
    const auto twin = kTwins.find(golden["topology"].get<std::string>());
    const int nhosts = golden["nHosts"].get<int>();
    if (twin == kTwins.end() || golden["nNodes"].get<int>() > 4) continue;
    SCOPED_TRACE(name);
    const auto hosts = load_hosts(twin->second.preset, 1, twin->second.nvl_domain);
    ASSERT_TRUE(hosts) << hosts.error().message;
    JobHosts job_hosts = *hosts;
    job_hosts.runs[0].count = nhosts;
    const auto job = make_job(job_hosts, {}, {});
    ASSERT_TRUE(job) << job.error().message;
    EXPECT_EQ(joined(oracle::compare_systems(golden, *job)), "");
    EXPECT_EQ(joined(oracle::compare_searches(golden, *job)), "");
    EXPECT_EQ(joined(oracle::compare_merged(golden, *job)), "");
    EXPECT_EQ(joined(oracle::compare_comm(golden, *job)), "");
    EXPECT_EQ(joined(oracle::compare_channels(golden, *job)), "");
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace ringside

#include "engine/topology/sources/load_hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/topology/sources/host_source.h"
#include "engine/topology/sources/nccl_xml.h"

namespace ringside {
namespace {

using testing::HasSubstr;

/// A new folder that is removed at the end.
class LoadHosts : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "ringside_load_hosts_" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream{path} << text;
    return path;
  }
  /// Writes a preset as NCCL's XML.
  std::string write_xml(const std::string& name, const std::string& preset) const {
    return write(name, to_nccl_xml(load_hosts(preset, 1, {})->runs[0].host));
  }

  std::string folder_;
};

Error error_of(const std::string& on, std::optional<int> nodes = {},
               std::optional<int> domain = {}) {
  const auto hosts = load_hosts(on, nodes, domain);
  return hosts ? Error{ErrorCode::Timeout, "loaded"} : hosts.error();
}

TEST_F(LoadHosts, APresetWithACountIsEqualHosts) {
  const auto hosts = load_hosts("dgx-h100", 3, {});
  ASSERT_TRUE(hosts) << hosts.error().message;
  ASSERT_EQ(hosts->runs.size(), 1U);
  EXPECT_EQ(hosts->runs[0].count, 3);
  EXPECT_EQ(hosts->runs[0].host.name, "dgx-h100");
  EXPECT_EQ(gpus_of(hosts->runs[0].host).size(), 8U);
  EXPECT_EQ(hosts->hosts_per_nvl_domain, 1);
}

TEST_F(LoadHosts, ADomainPresetCountsInDomainsUnlessTheDomainIsGiven) {
  const auto domains = load_hosts("gb200-nvl72", 2, {});
  ASSERT_TRUE(domains);
  EXPECT_EQ(domains->runs[0].count, 36);  // 2 domains of 18 hosts
  EXPECT_EQ(domains->hosts_per_nvl_domain, 18);
  const auto hosts = load_hosts("gb200-nvl72", 8, 4);
  ASSERT_TRUE(hosts);
  EXPECT_EQ(hosts->runs[0].count, 8);
  EXPECT_EQ(hosts->hosts_per_nvl_domain, 4);
}

TEST_F(LoadHosts, APlainHostIsJoinedByNvlDomain) {
  const auto hosts = load_hosts("gh200", 4, 2);
  ASSERT_TRUE(hosts);
  EXPECT_EQ(hosts->runs[0].count, 4);
  EXPECT_EQ(hosts->hosts_per_nvl_domain, 2);
}

TEST_F(LoadHosts, SeveralSourcesKeepTheirOrderAndCounts) {
  const std::string file = write_xml("a.xml", "4x-a10");
  const auto hosts = load_hosts(file + ":2,dgx-h100," + file, 4, {});
  ASSERT_TRUE(hosts) << hosts.error().message;
  ASSERT_EQ(hosts->runs.size(), 3U);
  EXPECT_EQ(hosts->runs[0].count, 2);
  EXPECT_EQ(gpus_of(hosts->runs[0].host).size(), 4U);
  EXPECT_EQ(hosts->runs[1].host.name, "dgx-h100");
  EXPECT_EQ(hosts->runs[1].count, 1);
  EXPECT_EQ(hosts->runs[2].count, 1);
}

TEST_F(LoadHosts, NodesMustAgreeWithTheCounts) {
  EXPECT_TRUE(load_hosts("dgx-h100:2,dgx-b200:3", {}, {}));
  EXPECT_TRUE(load_hosts("dgx-h100:2,dgx-b200:3", 5, {}));
  for (const int nodes : {1, 4}) {
    const Error error = error_of("dgx-h100:2,dgx-b200:3", nodes);
    EXPECT_EQ(error.code, ErrorCode::InvalidArgument);
    EXPECT_THAT(error.help, HasSubstr("--nodes 5"));
  }
}

TEST_F(LoadHosts, TheContentDefinesTheKindOfAFileNotItsName) {
  const std::string xml = write_xml("host.txt", "one-gpu-one-nic");
  EXPECT_EQ(gpus_of(load_hosts(xml, 1, {})->runs[0].host).size(), 1U);
  const std::string yaml =
      write("own.conf",
            "# mine\nringside: host/1\nname: mine\ncpu: {arch: arm64}\n"
            "kinds: {gpu: {is: gpu, sm: 90}}\ntree: [numa 0: [gpu 0 01:00.0]]\n");
  const auto own = load_hosts(yaml, 1, {});
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->runs[0].host.name, "mine");
}

TEST_F(LoadHosts, AFileWithColonAndDigitsInItsNameIsThatFile) {
  const std::string file = write_xml("a.xml:4", "one-gpu-one-nic");
  const auto hosts = load_hosts(file, 1, {});
  ASSERT_TRUE(hosts) << hosts.error().message;
  EXPECT_EQ(hosts->runs[0].count, 1);
}

TEST_F(LoadHosts, RefusesUnknownHostsAndNamesTheFix) {
  EXPECT_THAT(error_of(write("a.xml", "<html></html>")).message, HasSubstr("<html>"));
  EXPECT_EQ(error_of(write("b.txt", "hello")).code, ErrorCode::Corrupt);
  EXPECT_EQ(error_of(write("c.txt", "")).code, ErrorCode::Corrupt);
  EXPECT_EQ(error_of(folder_).code, ErrorCode::InvalidArgument);
}

TEST_F(LoadHosts, AnUnknownNameNamesTheNearestPresetOrFile) {
  const Error preset = error_of("dgx-h10");
  EXPECT_EQ(preset.code, ErrorCode::NotFound);
  EXPECT_THAT(preset.help, HasSubstr("did you mean 'dgx-h100'?"));
  write_xml("cluster.xml", "one-gpu-one-nic");
  EXPECT_THAT(error_of(folder_ + "/clustr.xml").help, HasSubstr("cluster.xml"));
}

TEST_F(LoadHosts, CountsOutsideTheRangeAreRefused) {
  EXPECT_EQ(error_of("dgx-h100", 0).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("dgx-h100", kMaxHosts + 1).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("dgx-h100:0").code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("dgx-h100:-1").code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("dgx-h100:99999999999999999999").code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("gb200-nvl72", 4000).code, ErrorCode::InvalidArgument);  // 72,000 hosts
  EXPECT_EQ(error_of("dgx-h100", 1, 0).code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("").code, ErrorCode::InvalidArgument);
  EXPECT_EQ(error_of("dgx-h100,,dgx-a100").code, ErrorCode::InvalidArgument);
}

TEST_F(LoadHosts, ADomainPresetWithAnotherHostNeedsAWordOnDomains) {
  EXPECT_THAT(error_of("gb200-nvl72,dgx-h100").help, HasSubstr("--nvl-domain"));
  EXPECT_TRUE(load_hosts("gb200-nvl72:4,gb300-nvl72:4", {}, 4));
}

TEST(XmlRootName, SkipsDeclarationsAndComments) {
  EXPECT_EQ(xml_root_name("<system version=\"1\">"), "system");
  EXPECT_EQ(xml_root_name("\xef\xbb\xbf \n<?xml version=\"1.0\"?>\n<!-- <a> -->\n"
                          "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology/>"),
            "topology");
  EXPECT_EQ(xml_root_name("<!DOCTYPE platform [<!ENTITY a \"b\"><!ENTITY c \"d\">]><platform/>"),
            "platform");
  EXPECT_EQ(xml_root_name("ringside: host/1"), "");
  EXPECT_EQ(xml_root_name("<!-- never closed <system>"), "");
  EXPECT_EQ(xml_root_name(""), "");
}

}  // namespace
}  // namespace ringside

#include "harness/probe/compare.h"

#include <gtest/gtest.h>

namespace ringside::probe {
namespace {

HostReport host(const std::string& name, const std::string& mtu) {
  return {.host = name, .identity = name, .traits = {{"mtu", mtu}, {"nccl", "2.28.9"}}};
}

TEST(ProbeCompare, TheOddHostIsNamed) {
  const auto findings = judge_hosts({host("h1", "9000"), host("h2", "9000"), host("h3", "1500")});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].id, "asymmetric_config");
  EXPECT_EQ(findings[0].title, "mtu: h3 has 1500; the others 9000");
  EXPECT_EQ(findings[0].hosts, std::vector<std::string>{"h3"});
}

TEST(ProbeCompare, NeitherOfTwoHostsIsTheOddOne) {
  const auto differences = compare({host("h1", "9000"), host("h2", "1500")});
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_TRUE(differences[0].is_split);
  EXPECT_EQ(differences[0].odd.size(), 2u);
}

TEST(ProbeCompare, EqualHostsGiveNoFinding) {
  EXPECT_TRUE(judge_hosts({host("h1", "9000"), host("h2", "9000")}).empty());
}

TEST(ProbeCompare, AReportComesThroughItsMessage) {
  HostReport sent = host("h1", "1500");
  sent.findings.push_back({.id = "fd_limit", .severity = audit::Severity::Warning, .title = "few"});
  const auto got = parse_report(to_message(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->traits, sent.traits);
  ASSERT_EQ(got->findings.size(), 1u);
  EXPECT_EQ(got->findings[0].severity, audit::Severity::Warning);
  for (const char* wrong :
       {"", "{}", "[1]", "{\"host\":1}", "{\"host\":\"a\",\"identity\":\"b\",\"traits\":[[]]}"})
    EXPECT_FALSE(parse_report(wrong)) << wrong;
}

}  // namespace
}  // namespace ringside::probe

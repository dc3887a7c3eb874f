#include "harness/logs/misconfiguration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/logs/said.h"

namespace ringside {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Broken {
  said::Log log;
  LogTruth truth;
};
Broken broken(const std::string& name, LogRequest request) {
  const auto truth = misconfigure(name, request);
  EXPECT_TRUE(truth) << name << ": " << truth.error().message;
  return {said::log_of(request), truth ? *truth : LogTruth{}};
}

auto medium(const std::string& part) { return Field(&said::Connection::medium, HasSubstr(part)); }

TEST(Misconfiguration, TheTableIsInOrderAndEachHasWords) {
  const auto all = misconfigurations();
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Misconfiguration::name));
  for (const Misconfiguration& listed : all) EXPECT_FALSE(listed.what.empty()) << listed.name;
}

TEST(Misconfiguration, AnUnknownNameNamesTheNearest) {
  LogRequest request = said::request("dgx-h100", 2, "2.21");
  const auto truth = misconfigure("sokcet", request);
  ASSERT_FALSE(truth);
  EXPECT_THAT(truth.error().help, HasSubstr("did you mean 'socket'"));
}

TEST(Misconfiguration, RefusesImpossibleFaultsAndNamesTheReason) {
  LogRequest one_node = said::request("dgx-h100", 1, "2.21");
  const auto truth = misconfigure("socket", one_node);
  ASSERT_FALSE(truth);
  EXPECT_EQ(truth.error().code, ErrorCode::Unsupported);
  EXPECT_THAT(truth.error().message, HasSubstr("one node needs no network"));
}

/// Every misconfiguration that a job can have changes its log and has an expected answer. Each one is tried until a
/// host can have it, and from then on in one case of five: all cases take minutes under a sanitizer.
TEST(Misconfiguration, EachOneShowsInTheLog) {
  const std::pair<const char*, const char*> cases[] = {{"dgx-h100", "2.21"}, {"dgx-h100", "2.30"},
                                                       {"8x-l40s", "2.12"},  {"8x-l40s", "2.26"},
                                                       {"dgx-spark", "2.9"}, {"aws-p5", "2.24"}};
  std::set<std::string> shown;
  int turn = 0;
  for (const auto& [preset, version] : cases) {
    LogRequest plain = said::request(preset, 2, version);
    plain.shown = Subsystem::Init | Subsystem::Net | Subsystem::Env;
    const std::string healthy = said::text_of(plain);
    for (const Misconfiguration& listed : misconfigurations()) {
      if (shown.contains(std::string(listed.name)) && ++turn % 5 != 0) continue;
      LogRequest request = plain;
      const auto truth = misconfigure(listed.name, request);
      if (!truth) {
        EXPECT_EQ(truth.error().code, ErrorCode::Unsupported) << listed.name;
        continue;
      }
      shown.insert(std::string(listed.name));
      EXPECT_EQ(truth->findings.size(), 1U) << listed.name;
      EXPECT_EQ(truth->misconfiguration, listed.name);
      EXPECT_NE(said::text_of(request), healthy) << preset << ' ' << version << ' ' << listed.name;
    }
  }
  EXPECT_EQ(shown.size(), misconfigurations().size()) << "some were never tried";
}

TEST(Misconfiguration, WithoutRdmaTheJobTakesSockets) {
  const Broken job = broken("socket", said::request("dgx-h100", 2, "2.21"));
  EXPECT_THAT(job.log.lines, Contains("NET/IB : No device found."));
  EXPECT_THAT(job.log.lines, Contains("Using network Socket"));
  EXPECT_THAT(job.log.connections, Contains(medium("NET/Socket/0")));
  EXPECT_THAT(job.log.connections, Each(Not(medium("NET/IB"))));
  EXPECT_THAT(job.log.warnings, IsEmpty()) << "no line warns of it";
}

TEST(Misconfiguration, WithoutPeerMemoryNoConnectionHasGdr) {
  const Broken job = broken("gdr", said::request("dgx-a100", 2, "2.20"));
  EXPECT_THAT(job.log.connections, Contains(medium("NET/IB/")));
  EXPECT_THAT(job.log.connections, Each(Not(medium("GDRDMA"))));
  EXPECT_THAT(job.log.lines, Contains("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"));
}

TEST(Misconfiguration, GdrIsMissingOnOneHostAlone) {
  const Broken job = broken("gdr-one-host", said::request("dgx-h100", 2, "2.20"));
  ASSERT_THAT(job.truth.findings[0].hosts, testing::ElementsAre(1));
  for (const said::Connection& made : job.log.connections) {
    if (made.way.empty()) continue;
    const int own = made.way == "send" ? made.from : made.to;
    EXPECT_EQ(made.medium.ends_with("GDRDMA"), own < 8) << made.medium;
  }
}

TEST(Misconfiguration, WithoutP2pTheNodeTalksThroughSharedMemory) {
  const Broken job = broken("p2p", said::request("dgx-h100", 2, "2.21"));
  EXPECT_THAT(job.log.lines, Contains("NCCL_P2P_LEVEL set by environment to LOC"));
  EXPECT_THAT(job.log.connections, Contains(medium("SHM")));
  EXPECT_THAT(job.log.connections, Each(Not(medium("P2P"))));
}

TEST(Misconfiguration, OneNicCarriesEverything) {
  const Broken job = broken("one-nic", said::request("dgx-h100", 2, "2.21"));
  EXPECT_THAT(job.log.lines, Contains("NCCL_IB_HCA set to =mlx5_0"));
  EXPECT_THAT(job.log.lines, Contains("NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.20.0.1<0>"));
  for (const said::Connection& made : job.log.connections) {
    if (!made.way.empty()) {
      EXPECT_THAT(made.medium, HasSubstr("NET/IB/0"));
    }
  }
}

TEST(Misconfiguration, AShortRingLeavesARankOut) {
  const Broken job = broken("short-ring", said::request("dgx-a100", 2, "2.21"));
  EXPECT_THAT(job.log.warnings, Each(HasSubstr("Error : ring 0 does not contain rank 15")));
  EXPECT_EQ(job.log.warnings.size(), 16U);
  for (const said::Ring& place : job.log.rings.at(0)) EXPECT_NE(place.next, 15);
  EXPECT_THAT(job.log.completed, IsEmpty());
}

TEST(Misconfiguration, VersionsAreLoggedByAllRanksSince222) {
  const Broken job = broken("version", said::request("dgx-a100", 2, "2.23"));
  EXPECT_THAT(job.log.lines, Contains("NCCL version 2.23.4+cuda12.6"));
  EXPECT_THAT(job.log.lines, Contains("NCCL version 2.22.3+cuda12.5"));
  EXPECT_THAT(job.log.warnings,
              Contains("Mismatched NCCL version detected : rank 0 version 22304 rank 8 version "
                       "22203"));
}

TEST(Misconfiguration, EarlierVersionsAreLoggedByTheNodesOwnCommunicators) {
  const Broken job = broken("version", said::request("dgx-a100", 2, "2.18"));
  EXPECT_THAT(job.log.lines, Contains("NCCL version 2.18.6+cuda12.2"));
  EXPECT_THAT(job.log.lines, Contains("NCCL version 2.17.1+cuda12.1"));
  EXPECT_THAT(job.log.warnings, Each(HasSubstr("Message truncated")));
}

TEST(Misconfiguration, AVariableOfOneHostIsEchoedThereAlone) {
  const Broken job = broken("env", said::request("dgx-a100", 2, "2.21"));
  EXPECT_EQ(std::ranges::count(job.log.lines, "NCCL_PROTO set by environment to Simple"), 8);
}

TEST(Misconfiguration, TwoRanksOfOneGpuLogTheSameBusId) {
  const Broken job = broken("duplicate-gpu", said::request("dgx-a100", 1, "2.21"));
  EXPECT_THAT(job.log.warnings,
              testing::UnorderedElementsAre(
                  "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 7000",
                  "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 7000"));
  EXPECT_EQ(std::ranges::count_if(job.log.lines,
                                  [](const std::string& line) {
                                    return line.ends_with("- Init START") &&
                                           line.find(" busId 7000 ") != std::string::npos;
                                  }),
            2);
}

TEST(Misconfiguration, Docker0CannotBeReached) {
  const Broken job = broken("interface", said::request("dgx-a100", 2, "2.21"));
  EXPECT_THAT(job.log.lines, Contains("Bootstrap : Using docker0:172.17.0.1<0>"));
  EXPECT_THAT(job.log.warnings,
              Each(AllOf(HasSubstr("Connect to 172.17.0.1<"), HasSubstr("Connection refused"))));
  EXPECT_EQ(job.log.warnings.size(), 8U) << "the second host's";
}

TEST(Misconfiguration, TheNeighboursOfASilentHostSeeRetriesExhausted) {
  const Broken job = broken("ib-error", said::request("dgx-h100", 3, "2.21"));
  EXPECT_THAT(job.log.warnings, Not(IsEmpty()));
  EXPECT_THAT(job.log.warnings, Each(HasSubstr("with status=12")));
  EXPECT_EQ(job.log.completed.size(), 24U) << "the job had come up";
}

}  // namespace
}  // namespace ringside

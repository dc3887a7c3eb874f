#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/topology/sources/load_hosts.h"
#include "harness/logs/log_job.h"
#include "tests/logs/said.h"

namespace ringside {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

const std::vector<std::string> kVersions{"2.7",  "2.12", "2.16", "2.18",
                                         "2.21", "2.23", "2.30", "2.31"};

/// Tests every preset as one node and as two.
class EveryPreset : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  static std::string preset() { return std::get<0>(GetParam()); }
  static int nodes() { return std::get<1>(GetParam()); }
};

std::string name_of(const testing::TestParamInfo<std::tuple<std::string, int>>& info) {
  std::string name = std::get<0>(info.param) + "_" + std::to_string(std::get<1>(info.param));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// An NVLink domain has 72 ranks, each of which prints the paths of all: one such domain is enough.
std::vector<std::tuple<std::string, int>> cases() {
  std::vector<std::tuple<std::string, int>> all;
  for (const std::string_view name : host_preset_names()) {
    if (name == "gb300-nvl72") continue;
    all.emplace_back(name, 1);
    if (name != "gb200-nvl72") all.emplace_back(name, 2);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPreset, testing::ValuesIn(cases()), name_of);

TEST_P(EveryPreset, EveryRingClosesOverAllRanks) {
  const said::Log log = said::log_of(said::request(preset(), nodes(), "2.22"));
  ASSERT_THAT(log.rings, Not(IsEmpty()));
  for (const auto& [channel, ring] : log.rings) {
    std::map<int, said::Ring> of_rank;
    for (const said::Ring& place : ring) of_rank[place.rank] = place;
    std::set<int> seen;
    int rank = 0;
    do {
      seen.insert(rank);
      const int next = of_rank.at(rank).next;
      EXPECT_EQ(of_rank.at(next).previous, rank) << "channel " << channel;
      rank = next;
    } while (rank != 0 && seen.size() <= of_rank.size());
    EXPECT_EQ(seen.size(), of_rank.size()) << "channel " << channel;
  }
}

TEST_P(EveryPreset, EveryTreeHasOneRootAndParentsKnowTheirChildren) {
  const said::Log log = said::log_of(said::request(preset(), nodes(), "2.22"));
  for (const auto& [channel, tree] : log.trees) {
    std::map<int, said::Tree> of_rank;
    for (const said::Tree& place : tree) of_rank[place.rank] = place;
    int roots = 0;
    for (const auto& [rank, place] : of_rank) {
      if (place.up < 0) {
        ++roots;
      } else {
        EXPECT_THAT(of_rank.at(place.up).down, Contains(rank)) << "channel " << channel;
      }
    }
    EXPECT_EQ(roots, 1) << "channel " << channel;
  }
}

// A ring of n ranks has n connections a channel. The trees add others, and none twice.
TEST_P(EveryPreset, EachRingEdgeIsConnectedOnceByItsSender) {
  for (const char* version : {"2.18", "2.24"}) {
    const said::Log log = said::log_of(said::request(preset(), nodes(), version));
    std::map<std::tuple<int, int, int>, int> sent;
    for (const said::Connection& made : log.connections) {
      if (made.way != "receive") ++sent[{made.channel, made.from, made.to}];
    }
    for (const auto& [channel, ring] : log.rings) {
      for (const said::Ring& place : ring) {
        if (place.next == place.rank) continue;
        const auto found = sent.find({channel, place.rank, place.next});
        ASSERT_NE(found, sent.end()) << version << " channel " << channel << ": " << place.rank;
        EXPECT_GE(found->second, 1);
      }
    }
  }
}

TEST_P(EveryPreset, NetworkSendsAndReceivesMatch) {
  const said::Log log = said::log_of(said::request(preset(), nodes(), "2.21"));
  std::multiset<std::tuple<int, int, int>> sent;
  std::multiset<std::tuple<int, int, int>> received;
  for (const said::Connection& made : log.connections) {
    if (made.way == "send") sent.emplace(made.channel, made.from, made.to);
    if (made.way == "receive") received.emplace(made.channel, made.from, made.to);
  }
  EXPECT_EQ(sent, received);
}

TEST_P(EveryPreset, AHealthyJobHasNoWarningInAnyVersion) {
  // Tests every third release, starting with another one for each preset: ringside_audit_grid tests all.
  const std::size_t first = (std::string(preset()).size() + static_cast<std::size_t>(nodes())) % 3;
  for (std::size_t i = first; i < std::size(kVersions); i += 3) {
    const std::string& version = kVersions[i];
    LogRequest request = said::request(preset(), nodes(), version);
    request.shown = Subsystem::Init | Subsystem::Net;
    const said::Log log = said::log_of(request);
    EXPECT_THAT(log.warnings, IsEmpty()) << version;
    const std::size_t ranks = LogJob::make(request)->processes().size();
    EXPECT_THAT(log.completed, SizeIs(ranks)) << version;
    EXPECT_EQ(log.started.empty(), request.version.is_before(18)) << version;
  }
}

TEST(JobLog, TheCountsAreTheEngines) {
  const LogRequest request = said::request("dgx-h100", 2, "2.21");
  const said::Log log = said::log_of(request);
  // 8 searched rings, doubled; 16 NVLS channels on Hopper; 2 p2p channels a peer among 16 ranks.
  EXPECT_THAT(log.rings, SizeIs(16));
  EXPECT_THAT(log.lines, Contains("16 coll channels, 0 collnet channels, 16 nvls channels, 16 p2p "
                                  "channels, 2 p2p channels per peer"));
  // From 2.29 on a channel to a peer is laid for each 14 GB/s of the NICs.
  EXPECT_THAT(said::log_of(said::request("dgx-h100", 2, "2.30")).lines,
              Contains(HasSubstr("16 p2p channels, 4 p2p channels per peer")));
}

// The rails of two hosts alternate: what leaves by a NIC enters by the one of the same number.
TEST(JobLog, RailsAreKept) {
  const said::Log log = said::log_of(said::request("dgx-h100", 4, "2.21"));
  std::map<std::tuple<int, int, int>, std::string> nic_of_sender;
  const auto nic = [](const said::Connection& made) { return made.medium.substr(7, 1); };
  for (const said::Connection& made : log.connections) {
    if (made.way == "send") nic_of_sender[{made.channel, made.from, made.to}] = nic(made);
  }
  int crossings = 0;
  for (const said::Connection& made : log.connections) {
    if (made.way != "receive") continue;
    ++crossings;
    EXPECT_EQ(nic(made), nic_of_sender.at({made.channel, made.from, made.to}));
  }
  EXPECT_GE(crossings, 4 * 16) << "a crossing a host and ring, and those of the trees";
}

TEST(JobLog, TheFormsOfItsVersionAlone) {
  const auto lines = [](const char* version) {
    return said::log_of(said::request("dgx-h100", 2, version)).lines;
  };
  EXPECT_THAT(lines("2.12"), Contains(HasSubstr("via P2P/IPC")));
  EXPECT_THAT(lines("2.12"), Not(Contains(HasSubstr("nvls"))));
  EXPECT_THAT(lines("2.12"), Not(Contains(HasSubstr("commId"))));
  EXPECT_THAT(lines("2.18"), Contains(HasSubstr("via P2P/IPC")));
  EXPECT_THAT(lines("2.19"), Contains(HasSubstr("via P2P/CUMEM")));
  EXPECT_THAT(lines("2.19"), Not(Contains(HasSubstr("MNNVL"))));
  EXPECT_THAT(lines("2.22"), Contains(StartsWith("Init timings: rank")));
  EXPECT_THAT(lines("2.24"), Contains("Connected all rings, use ring PXN 0 GDR 1"));
}

TEST(JobLog, ConnectionsWaitForTheFirstCollectiveSince222) {
  const auto place_of = [](const std::vector<std::string>& lines, const std::string& part) {
    return std::ranges::find_if(
        lines, [&part](const std::string& line) { return line.find(part) != std::string::npos; });
  };
  const auto old = said::log_of(said::request("dgx-a100", 1, "2.21")).lines;
  EXPECT_LT(place_of(old, "Connected all rings"), place_of(old, "Init COMPLETE"));
  const auto later = said::log_of(said::request("dgx-a100", 1, "2.22")).lines;
  EXPECT_GT(place_of(later, "Connected all rings"), place_of(later, "Init COMPLETE"));
}

TEST(JobLog, AnNvlinkDomainIsOneNodeSince220) {
  LogRequest request = said::request("gb200-nvl72", 1, "2.27");
  const auto later = said::log_of(request);
  EXPECT_THAT(later.lines, Contains(HasSubstr("nRanks 72 nNodes 1 localRanks 72")));
  EXPECT_THAT(later.connections, Each(testing::Field(&said::Connection::medium, "P2P/MNNVL")));
  request.version = {19, 4};
  EXPECT_THAT(said::log_of(request).connections,
              Contains(testing::Field(&said::Connection::medium, HasSubstr("NET/IB"))));
}

TEST(JobLog, GroupsFollowTheCommunicatorOfAll) {
  LogRequest request = said::request("dgx-a100", 2, "2.21");
  request.repeat = 1;
  const LogJob job = *LogJob::make(request);
  ASSERT_THAT(job.generations(), SizeIs(3));
  EXPECT_THAT(job.generations()[0].communicators, SizeIs(1));
  EXPECT_THAT(job.generations()[1].communicators, SizeIs(2)) << "one a node";
  EXPECT_THAT(job.generations()[2].communicators, SizeIs(8)) << "one a place in the nodes";
  EXPECT_THAT(job.generations()[2].communicators[3].members, testing::ElementsAre(3, 11));
  std::set<std::uint64_t> ids;
  for (const Generation& generation : job.generations()) {
    for (const LogCommunicator& made : generation.communicators) ids.insert(made.id);
  }
  EXPECT_THAT(ids, SizeIs(11));
}

TEST(JobLog, SettingsAreEchoedAndDecide) {
  LogRequest request = said::request("dgx-h100", 1, "2.21");
  request.settings = {{"NCCL_MAX_NCHANNELS", "4"}};
  request.environment = [](const char* name) -> std::optional<std::string> {
    if (std::string_view{name} == "NCCL_MAX_NCHANNELS") return "4";
    return std::nullopt;
  };
  const said::Log log = said::log_of(request);
  EXPECT_THAT(log.lines, Contains("NCCL_MAX_NCHANNELS set by environment to 4."));
  EXPECT_THAT(log.rings, SizeIs(16)) << "raised for NVLS beyond any bound, up to 2.27";
  request.version = *parse_nccl_version("2.28");
  EXPECT_THAT(said::log_of(request).rings, SizeIs(4));
}

TEST(JobLog, CallsAreEqualOnAllRanks) {
  LogRequest request = said::request("one-gpu-one-nic", 2, "2.24");
  request.calls = 3;
  const said::Log log = said::log_of(request);
  EXPECT_EQ(std::ranges::count_if(log.lines,
                                  [](const std::string& line) {
                                    return line.starts_with("AllGather: opCount 0 ") &&
                                           line.find(" count 4194304 datatype 9 ") !=
                                               std::string::npos;
                                  }),
            2);
  EXPECT_THAT(log.lines, Contains(StartsWith("AllGather: 16777216 Bytes -> Algo ")));
}

}  // namespace
}  // namespace ringside

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.h"

/// Runs the program in a network of its own: a link without a peer, and one fault in it.
namespace ringside {
namespace {

using Ids = std::vector<std::string>;

const char* const kStart =
    "set -e; PATH=$PATH:/usr/sbin:/sbin; mount -t sysfs none /sys; mount -t tmpfs tmpfs /dev/shm; "
    "ip link set lo up; ulimit -n 8192; ";
const char* const kLink =
    "ip link add v0 type veth peer name v1; ip addr add 10.77.0.1/24 dev v0; ip link set v0 up; "
    "ip link set v1 up; ";
const char* const kProbe = "exec \"$RINGSIDE\" probe --json";

Outcome in_namespace(const std::string& script) {
  return run_program({"-n", "-m", "sh", "-c", script},
                     {"RINGSIDE=" + std::string(RINGSIDE_PROGRAM)}, "/usr/bin/unshare");
}

class ProbeNamespace : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it makes network namespaces";
    const Outcome tried = in_namespace(std::string(kStart) + kLink + "echo fine");
    if (tried.status != 0) GTEST_SKIP() << "needs unshare, ip and veth: " << tried.err;
    // A machine with RDMA devices or GPUs has findings of its own.
    const Outcome plain = run_program({"probe", "--json"});
    const auto document = nlohmann::json::parse(plain.out);
    if (!document["rdma_devices"].empty() || !document["gpus"].empty())
      GTEST_SKIP() << "needs a machine without GPUs and RDMA devices";
    if (document["clock_source"] == "hpet" || document["clock_source"] == "acpi_pm")
      GTEST_SKIP() << "this machine's clock is a finding already";
  }

  /// Returns the ids that the program reports after these commands, which follow a link that works.
  static Ids found_after(const std::string& commands, const std::string& link = kLink) {
    const Outcome outcome = in_namespace(kStart + link + commands + "; " + kProbe);
    Ids ids;
    if (outcome.out.empty()) return {"no answer: " + outcome.err};
    const auto document = nlohmann::json::parse(outcome.out);
    for (const auto& one : document["findings"]) ids.push_back(one["id"]);
    EXPECT_EQ(outcome.status, ids.empty() ? 0 : 1) << outcome.err;
    return ids;
  }
};

TEST_F(ProbeNamespace, AHealthyNamespaceGivesNoFinding) { EXPECT_EQ(found_after("true"), Ids{}); }

TEST_F(ProbeNamespace, OnlyLoopback) { EXPECT_EQ(found_after("true", ""), Ids{"wrong_interface"}); }

TEST_F(ProbeNamespace, TheCableIsOut) {
  EXPECT_EQ(found_after("ip link set v1 down"), (Ids{"net_unreachable", "wrong_interface"}));
}

TEST_F(ProbeNamespace, OnlyAnInterfaceOfDocker) {
  EXPECT_EQ(found_after("ip link set v0 down; ip link set v0 name docker0; ip link set docker0 up"),
            Ids{"wrong_interface"});
}

TEST_F(ProbeNamespace, OnlyALinkLocalAddress) {
  EXPECT_EQ(found_after("ip addr flush dev v0; ip addr add 169.254.7.1/16 dev v0"),
            Ids{"wrong_interface"});
}

TEST_F(ProbeNamespace, AVariableThatNamesNoInterface) {
  EXPECT_EQ(found_after("export NCCL_SOCKET_IFNAME=ens7"), Ids{"wrong_interface"});
}

TEST_F(ProbeNamespace, MoreSocketsThanThereMayBe) {
  EXPECT_EQ(found_after("export NCCL_SOCKET_NTHREADS=16 NCCL_NSOCKS_PERTHREAD=16"),
            Ids{"env_override"});
}

TEST_F(ProbeNamespace, AFirewallThatDrops) {
  if (in_namespace(std::string(kStart) + "command -v nft").status != 0) GTEST_SKIP() << "needs nft";
  EXPECT_EQ(found_after("nft add table inet f; "
                        "nft 'add chain inet f in { type filter hook input priority 0; }'; "
                        "nft add rule inet f in tcp dport 30000-60000 drop"),
            Ids{"net_unreachable"});
}

TEST_F(ProbeNamespace, SharedMemoryIsSmall) {
  EXPECT_EQ(found_after("mount -t tmpfs -o size=64m tmpfs /dev/shm"), Ids{"shm_exhausted"});
}

TEST_F(ProbeNamespace, FewFilesMayBeOpen) {
  EXPECT_EQ(found_after("ulimit -n 256"), Ids{"fd_limit"});
}

TEST_F(ProbeNamespace, TwoHostsWhoseMtuDiffers) {
  const std::string script =
      std::string(kStart) + kLink +
      "export WORLD_SIZE=2 MASTER_ADDR=10.77.0.1 MASTER_PORT=29555; "
      "RANK=1 NCCL_HOSTID=other unshare -n -m sh -c 'mount -t sysfs none /sys; ip link set lo up; "
      "until ip addr add 10.77.0.2/24 dev v1 2> /dev/null; do sleep 0.05; done; "
      "ip link set v1 mtu 1400 up; exec \"$RINGSIDE\" probe --json' > /dev/null & "
      "until [ $(readlink /proc/$!/ns/net) != $(readlink /proc/self/ns/net) ]; do sleep 0.05; "
      "done; "
      "ip link set v1 netns $!; sleep 0.2; RANK=0 exec \"$RINGSIDE\" probe --json";
  const Outcome outcome = in_namespace(script);
  ASSERT_NE(outcome.out, "") << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(document["hosts"].size(), 2u);
  EXPECT_NE(outcome.out.find("\"title\": \"mtu: "), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.status, 1);
}

// As in bench, a rank that may run on any core is moved onto the core of the rank that it waits for.
TEST(ProbeProgram, RanksThatItStartsAreBoundToCores) {
  const auto bound_to = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"probe", "-n", "2", "--pairs", "--size", "64", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return nlohmann::json::parse(run_program(words).out)["bound_to"];
  };
  const auto cores = bound_to({});
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_TRUE(cores[0].is_number() && cores[1].is_number()) << cores;
  EXPECT_EQ(run_program({"probe", "-n", "2", "--pairs", "--bind", "socket"}).status, 2);
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "needs 2 cores";
  EXPECT_NE(cores[0], cores[1]);
  EXPECT_TRUE(bound_to({"--bind", "none"})[0].is_null());
}

}  // namespace
}  // namespace ringside

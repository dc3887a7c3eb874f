#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "diag/audit/audit.h"

// Tests that other lines of the same text refute a finding, or answer part of its advice.

namespace ringside::audit {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kRefused =
    "n01:4000:4100 [0] misc/ibvwrap.cc:262 NCCL WARN Call to ibv_reg_mr failed with error Cannot "
    "allocate memory\nn01:4000:4100 [0] NCCL INFO transport/net_ib.cc:640 -> 2\n";

TEST(AuditRefutations, AnUnlimitedLimitIsNotTooLow) {
  EXPECT_TRUE(audit_text(kRefused).has("memlock_limit", Severity::Error));
  const Audit refuted = audit_text(kRefused + "$ ulimit -l\nunlimited\n");
  EXPECT_FALSE(refuted.has("memlock_limit"));
  ASSERT_FALSE(refuted.findings.empty());
  EXPECT_THAT(refuted.findings.front().title, HasSubstr("unlimited"));
  EXPECT_THAT(refuted.findings.front().fix, Not(HasSubstr("ulimit -l")));
}

TEST(AuditRefutations, ALimitThatTheTextShowsIsNamed) {
  const Audit audit = audit_text(kRefused + "$ ulimit -l\n65536\n");
  ASSERT_TRUE(audit.has("memlock_limit", Severity::Error));
  EXPECT_THAT(audit.findings.front().title, HasSubstr("65536"));
  EXPECT_TRUE(audit.findings.front().unseen.empty());
  // `ulimit -l unlimited` sets the limit: the advice to set it remains.
  EXPECT_THAT(audit.findings.front().fix, HasSubstr("ulimit -l unlimited"));
}

// The soft limit applies, whatever the hard one is; /proc states it in bytes.
TEST(AuditRefutations, TheSoftLimitOfProcIsNamedInKib) {
  const Audit audit = audit_text(
      kRefused +
      "Max locked memory         67108864             unlimited            bytes     \n");
  ASSERT_TRUE(audit.has("memlock_limit", Severity::Error));
  EXPECT_THAT(audit.findings.front().title, HasSubstr(": 65536 KiB"));
  EXPECT_FALSE(audit_text(kRefused + "Max locked memory  unlimited  unlimited  bytes\n")
                   .has("memlock_limit"));
  EXPECT_THAT(
      audit_text(kRefused + "max locked memory           (kbytes, -l) 64\n").findings.front().title,
      HasSubstr(": 64 KiB"));
}

TEST(AuditRefutations, MissingEvidenceThatWouldDecideIsListed) {
  const Audit audit = audit_text(kRefused);
  ASSERT_FALSE(audit.findings.empty());
  ASSERT_EQ(audit.findings.front().unseen.size(), 1U);
  EXPECT_THAT(audit.findings.front().unseen.front(), HasSubstr("ulimit -l"));
}

TEST(AuditRefutations, AnAdapterWithoutResourcesIsNotALimit) {
  const Audit audit = audit_text(
      "mlx5_core 0000:5e:00.0: mlx5_cmd_out_err:803:(pid 4000): CREATE_MKEY(0x200) op_mod(0x0) "
      "failed, status no resources(0xf), syndrome (0x6c4d48), err(-12)\n" +
      kRefused);
  EXPECT_FALSE(audit.has("memlock_limit"));
  EXPECT_TRUE(audit.has("ib_error", Severity::Error));
}

std::string gids_of(const std::string& host, int index) {
  const std::string gid = "\t0000:0000:0000:0000:0000:ffff:0a1e:0107\t10.30.1.7  \t";
  return "root@" + host + ":/# show_gids\nDEV\tPORT\tINDEX\tGID\n" + "mlx5_2\t1\t" +
         std::to_string(index - 1) + gid + "v1\tnet1\nmlx5_2\t1\t" + std::to_string(index) + gid +
         "v2\tnet1\nn_gids_found=2\n";
}

const std::string kNoDevice =
    "w-2:214:377 [0] NCCL INFO NET/IB : Using [0]mlx5_2:1/RoCE [RO]; OOB net1:10.30.1.7<0>\n"
    "w-2:214:377 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 5.\n"
    "w-2:214:391 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with error No such "
    "device\n";

TEST(AuditRefutations, AGidIndexIsJudgedByTheTableOfItsHost) {
  const Audit audit = audit_text(gids_of("w-0", 5) + gids_of("w-2", 7) + kNoDevice);
  ASSERT_TRUE(audit.has("gid_index", Severity::Error));
  const Finding& finding = audit.findings.front();
  EXPECT_THAT(finding.title, HasSubstr("NCCL_IB_GID_INDEX=5 is empty on w-2"));
  EXPECT_THAT(finding.title, HasSubstr("index 7"));
  EXPECT_THAT(finding.fix, Not(HasSubstr("show_gids")));
  EXPECT_TRUE(finding.unseen.empty());
}

// An empty GID is a surer reason than a time-out of a later line, whether lines name their devices or not.
TEST(AuditRefutations, TheSurestReasonOfUnconnectedPairsIsTakenWithoutDevices) {
  const std::string failed =
      "w-2:214:391 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with error ";
  const Audit audit =
      audit_text(failed + "No data available\n" + failed + "Connection timed out\n");
  ASSERT_TRUE(audit.has("gid_index", Severity::Error));
  EXPECT_THAT(audit.findings.front().title, HasSubstr("the GID is empty"));
}

TEST(AuditRefutations, AnIndexThatExistsGivesNoFinding) {
  const Audit audit = audit_text(gids_of("w-2", 5) + kNoDevice);
  ASSERT_FALSE(audit.findings.empty());
  EXPECT_THAT(audit.findings.front().title, Not(HasSubstr("is empty")));
}

TEST(AuditRefutations, AHostWithAPortAndAContainerWithoutOneIsAContainerMatter) {
  const std::string container =
      "n01:7741:7741 [0] NCCL INFO NCCL_IB_HCA set to mlx5_0\n"
      "n01:7741:7741 [0] NCCL INFO NET/IB : No device found.\n"
      "n01:7741:7741 [0] NCCL INFO Using network Socket\n"
      "n02:1204:1204 [0] NCCL INFO NET/IB : No device found.\n"
      "n02:1204:1204 [0] NCCL INFO Using network Socket\n"
      "n01:7741:7741 [0] NCCL INFO ncclCommInitRank comm 0xbb3e rank 0 nranks 2 cudaDev 0 nvmlDev "
      "0 "
      "busId 901000 commId 0x5de3 - Init START\n"
      "n01:7741:7741 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
      "n01:7741:7741 [0] NCCL INFO ncclCommInitRank comm 0xbb3e rank 0 nranks 2 cudaDev 0 nvmlDev "
      "0 "
      "busId 901000 commId 0x5de3 - Init COMPLETE\n";
  const std::string host =
      "host$ ibv_devinfo | egrep 'hca_id|state|link_layer'\nhca_id:\tmlx5_0\n"
      "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n";
  const Audit audit = audit_text(container + host);
  ASSERT_FALSE(audit.findings.empty());
  EXPECT_THAT(audit.findings.front().cause, HasSubstr("container does not see it"));
  EXPECT_THAT(audit_text(container).findings.front().cause, Not(HasSubstr("container does not")));
}

TEST(AuditRefutations, AVariableThatThePluginSetsIsLeftAlone) {
  const std::string warning =
      "n1:1874:1951 [1] graph/xml.h:101 NCCL WARN Attribute arch of node cpu not found\n";
  const std::string plugin =
      "n1:1874:1951 [1] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.7.4-aws\n"
      "n1:1874:1951 [1] NCCL INFO NET/OFI Running on p5.48xlarge platform, Setting NCCL_TOPO_FILE "
      "environment variable to /opt/p5.48xl-topo.xml\n";
  ASSERT_FALSE(audit_text(warning).findings.empty());
  EXPECT_THAT(audit_text(warning).findings.front().fix, HasSubstr("unset NCCL_TOPO_FILE"));
  const Audit audit = audit_text(plugin + warning);
  ASSERT_FALSE(audit.findings.empty());
  EXPECT_THAT(audit.findings.front().fix, Not(HasSubstr("unset")));
  EXPECT_THAT(audit.findings.front().fix, HasSubstr("update aws-ofi-nccl to 1.11.0"));
}

TEST(AuditRefutations, PortsWithoutACableAreANoteWhileOthersAreActive) {
  const std::string up = "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n";
  const std::string down =
      "CA 'mlx5_1'\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Disabled\n";
  EXPECT_TRUE(audit_text(down).has("rdma_port_down", Severity::Error));
  EXPECT_EQ(audit_text(up + down).worst(), Severity::Info);
  const Audit wanted =
      audit_text(up + down + "n01:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_1\n");
  EXPECT_TRUE(wanted.has("rdma_port_down", Severity::Error));
}

}  // namespace
}  // namespace ringside::audit

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/audit/generated_grid.h"

namespace ringside::grid {
namespace {

using testing::IsEmpty;

// Each log is generated from a known truth by code that the reader does not share. Every misconfiguration
// and every kind of hosts is among the cells; ringside_audit_grid runs them all.

/// What the audit only mentions: that one host's GPUs talk through shared memory while its siblings' use
/// NVLink, and a variable of one host where hosts have one GPU or share one NVLink domain.
bool is_open(const Cell& cell) {
  const bool has_single_gpus = cell.hosts == "dgx-spark" || cell.hosts == "gh200";
  return cell.misconfiguration == "nvlink" ||
         (cell.misconfiguration == "env" && (has_single_gpus || cell.hosts == "gb200-nvl72"));
}

TEST(GeneratedLogs, AreAuditedToTheInjectedCauseAndNothingElse) {
  const std::vector<Cell> all = all_cells();
  for (std::size_t i = 0; i < all.size(); i += 11) {
    if (is_open(all[i])) continue;
    const Outcome outcome = audit(all[i]);
    const std::string name = all[i].hosts + " x " + std::to_string(all[i].nodes) + ", NCCL " +
                             all[i].version + ", " + all[i].misconfiguration;
    EXPECT_THAT(outcome.missed, IsEmpty()) << name;
    EXPECT_THAT(outcome.extra, IsEmpty()) << name;
  }
}

TEST(GeneratedLogs, WithEverySubsystemTheVerdictIsTheSame) {
  for (const char* name : {"", "gdr", "p2p", "socket", "lost-nic", "ib-error"}) {
    for (const char* version : {"2.18", "2.24", "2.30"}) {
      const Outcome outcome = audit({"dgx-h100", 2, version, name, "INIT,ENV,GRAPH,NET,BOOTSTRAP"});
      EXPECT_THAT(outcome.missed, IsEmpty()) << version << ' ' << name;
      EXPECT_THAT(outcome.extra, IsEmpty()) << version << ' ' << name;
    }
  }
}

}  // namespace
}  // namespace ringside::grid

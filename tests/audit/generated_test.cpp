#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/audit/generated_grid.h"

namespace ringside::grid {
namespace {

using testing::IsEmpty;

// Each log is generated from a known truth by code that the reader does not share. Every misconfiguration
// and every kind of hosts is among the cells; ringside_audit_grid runs them all.

TEST(GeneratedLogs, AreAuditedToTheInjectedCauseAndNothingElse) {
  const std::vector<Cell> all = all_cells();
  for (std::size_t i = 0; i < all.size(); i += 11) {
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

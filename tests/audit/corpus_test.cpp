#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "diag/audit/audit.h"
#include "tests/support/shared.h"

namespace ringside::audit {
namespace {

// Counts the lines that belong to the stack, by prefix or by words, and that nothing reads.
TEST(AuditCorpus, NearlyAllLinesOfTheStackAreRead) {
  for (const std::string folder : {"logs", "pastes"}) {
    std::uint64_t all = 0, unread = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(shared_folder() + "/corpus/" + folder)) {
      if (entry.path().extension() != ".log") continue;
      const auto audited = audit_logs({entry.path().string()}, {.threads = 1});
      ASSERT_TRUE(audited) << entry.path();
      unread += audited->facts.unread.lines.count();
      all += audited->facts.stack_lines + audited->facts.unread.lines.count();
    }
    EXPECT_GT(all, 100U) << folder;
    EXPECT_LT(static_cast<double>(unread), 0.02 * static_cast<double>(all)) << folder;
  }
}

}  // namespace
}  // namespace ringside::audit

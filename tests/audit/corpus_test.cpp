#include <gtest/gtest.h>

#include "tests/audit/accuracy.h"

namespace ringside {
namespace {

TEST(AuditCorpus, NearlyAllLinesOfTheStackAreRead) {
  for (const std::string folder : {"logs", "pastes"}) {
    const corpus::Unread unread = corpus::unread_lines(folder);
    EXPECT_GT(unread.stack_lines, 100U) << folder;
    EXPECT_LT(unread.share(), 0.02) << folder << ": " << unread.unread;
  }
}

}  // namespace
}  // namespace ringside

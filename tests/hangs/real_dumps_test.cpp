#include "tests/hangs/generated.h"
#include "tests/support/shared.h"

namespace ringside::hangs {
namespace {

TEST_F(GeneratedCases, DumpsAreBuiltAsRealOnesAre) {
  EXPECT_EQ(check(shared_folder() + "/corpus"), 0);
}

}  // namespace
}  // namespace ringside::hangs

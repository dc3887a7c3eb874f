#include "sim/outcome.h"

#include <gtest/gtest.h>

#include "tests/sim/requests.h"

namespace ringside {
namespace {

// The launch takes 3 us, the busiest link 10 for its bytes.
TEST(Outcome, NoAnswerIsBeyondTheLinks) {
  Case one = ideal_case(4, Collective::AllReduce, 80'000);
  one.request.costs.launch = Seconds{3e-6};
  SimResult result{};
  result.time = Seconds{13e-6};
  result.busiest_link = 0;
  result.busiest = Seconds{10e-6};
  EXPECT_TRUE(check_against_links(one.request, result));
  result.time = Seconds{12.9e-6};
  const Status refused = check_against_links(one.request, result);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Corrupt);
  EXPECT_NE(refused.error().message.find("takes 12.9"), std::string::npos)
      << refused.error().message;
  result.busiest_link = -1;  // no bytes crossed any
  EXPECT_TRUE(check_against_links(one.request, result));
}

}  // namespace
}  // namespace ringside

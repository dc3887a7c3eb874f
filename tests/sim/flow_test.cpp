#include "sim/flow.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/sim/compare.h"
#include "tests/sim/requests.h"
#include "trace/sink.h"

namespace ringside {
namespace {

using testing::HasSubstr;

void expect_near_events(const SimRequest& request, const std::string& what) {
  const auto event = by("event", request);
  const auto flow = by("flow", request);
  ASSERT_TRUE(event && flow) << what;
  EXPECT_NEAR(flow->time / event->time, 1, 0.01) << what;
  EXPECT_NEAR(flow->busiest / event->busiest, 1, 0.01) << what;
  EXPECT_NEAR(static_cast<double>(flow->transfers), static_cast<double>(event->transfers),
              0.01 * static_cast<double>(event->transfers))
      << what;
  EXPECT_EQ(by("flow", request)->time, flow->time) << what;
}

TEST(Flow, LongCallsTakeTheTimeOfEvents) {
  for (const Collective collective :
       {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter,
        Collective::Broadcast, Collective::AllToAll}) {
    for (const auto& [on, nodes] :
         {std::pair{"dgx-h100", 1}, std::pair{"dgx-h100", 2}, std::pair{"2x-l4", 1}}) {
      const auto one = job_case(on, nodes, collective, 4_GiB);
      ASSERT_TRUE(one) << one.error().message;
      expect_near_events(one->request,
                         fmt::format("{} on {} {}", to_string(collective), nodes, on));
    }
  }
  // Two directions of shared PCI links: one doubling looks steady, and is not.
  for (const Bytes bytes : {40_MiB, 64_MiB, 320_MiB}) {
    const auto exchange = job_case("8x-l40s", 1, Collective::SendRecv, bytes);
    ASSERT_TRUE(exchange);
    expect_near_events(exchange->request, fmt::format("send_recv of {} B over PCI", bytes.value));
  }
  for (const Algorithm algorithm : {Algorithm::Ring, Algorithm::Tree, Algorithm::NvlsTree}) {
    const auto one =
        forced_case("dgx-h100", 3, Collective::AllReduce, 4_GiB, algorithm, Protocol::Simple);
    ASSERT_TRUE(one) << one.error().message;
    expect_near_events(one->request, to_string(algorithm));
  }
}

TEST(Flow, ShortCallsAreEvents) {
  const Case one = ideal_case(8, Collective::AllReduce, 80'000);
  EXPECT_EQ(by("flow", one.request)->time, by("event", one.request)->time);
  EXPECT_EQ(by("auto", one.request)->time, by("event", one.request)->time);
}

TEST(Flow, ATraceNeedsSteps) {
  const Case one = ideal_case(4, Collective::AllReduce, 80'000);
  SimRequest request = one.request;
  TraceMemorySink sink;
  request.trace = &sink;
  const auto refused = by("flow", request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
  EXPECT_THAT(refused.error().help, HasSubstr("--fidelity event"));
  EXPECT_TRUE(by("auto", request));
}

}  // namespace
}  // namespace ringside

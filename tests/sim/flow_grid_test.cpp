#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/compare.h"
#include "tests/sim/requests.h"

namespace ringside {
namespace {

struct Place {
  const char* on;
  int nodes;
};

class FlowGrid : public testing::TestWithParam<Place> {};

// `event` is within 1 % of `chunk` (event_nodes_test.cpp), so `flow` is within 3.
TEST_P(FlowGrid, TakesTheTimeOfEvents) {
  int looked_at = 0;
  for (int c = 0; c < kTunedCollectives; ++c) {
    for (int a = 0; a < kNcclAlgorithms; ++a) {
      for (int p = 0; p < kProtocols; ++p) {
        for (const Bytes bytes : {64_KiB, 1_MiB, 16_MiB, 128_MiB, 1_GiB}) {
          const auto collective = static_cast<Collective>(c);
          const auto algorithm = static_cast<Algorithm>(a);
          const auto protocol = static_cast<Protocol>(p);
          if (!has_algorithm(collective, algorithm)) continue;
          const auto one =
              forced_case(GetParam().on, GetParam().nodes, collective, bytes, algorithm, protocol);
          if (!one || one->request.choice.algorithm != algorithm ||
              one->request.choice.protocol != protocol) {
            continue;  // NCCL does not have this combination there
          }
          const auto event = by("event", one->request);
          if (!event) continue;
          const auto flow = by("flow", one->request);
          const std::string what =
              fmt::format("{} of {} B by {}/{}", to_string(collective), bytes.value,
                          to_string(algorithm), to_string(protocol));
          ASSERT_TRUE(flow) << what << ": " << flow.error().message;
          EXPECT_NEAR(flow->time / event->time, 1, 0.02) << what;
          EXPECT_GE(flow->time, flow->busiest) << what;
          ++looked_at;
        }
      }
    }
  }
  EXPECT_GE(looked_at, 10);
}

INSTANTIATE_TEST_SUITE_P(Presets, FlowGrid,
                         testing::Values(Place{"dgx-h100", 1}, Place{"dgx-h100", 2},
                                         Place{"dgx-h100", 4}, Place{"dgx-a100", 2},
                                         Place{"4x-a10", 1}, Place{"2x-l4", 3},
                                         Place{"one-gpu-one-nic", 5}),
                         [](const auto& test) {
                           std::string name = fmt::format("{}x{}", test.param.nodes, test.param.on);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// 384 x 383 transfers over NVLink and NICs: summed up.
TEST(FlowGridExchange, LargeOnesTakeTheTimeOfEvents) {
  const auto one = job_case("dgx-h100", 48, Collective::AllToAll, 16_MiB);
  ASSERT_TRUE(one) << one.error().message;
  const auto event = by("event", one->request);
  const auto flow = by("flow", one->request);
  ASSERT_TRUE(event && flow);
  EXPECT_NEAR(flow->time / event->time, 1, 0.01);
  EXPECT_EQ(flow->transfers, event->transfers);
}

}  // namespace
}  // namespace ringside

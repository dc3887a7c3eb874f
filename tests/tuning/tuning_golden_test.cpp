#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/tuning/select.h"
#include "tests/support/golden_shape.h"
#include "tests/support/oracle.h"

namespace ringside {
namespace {

constexpr double kRelative = 1e-5;

void expect_near_relative(double got, double want, const std::string& what) {
  EXPECT_NEAR(got, want, kRelative * std::max(std::abs(want), 1e-3)) << what;
}

/// What differs from file to file stands in one place, so that a failure names all three.
std::string name_of(Collective c, Algorithm a, Protocol p) {
  return std::string(nccl_name(c)) + " " + nccl_name(a) + "/" + nccl_name(p);
}

/// Calls `check(golden, tuner)` for every golden file.
template <typename Check>
void for_all_golden(Check check) {
  int files = 0;
  for (const std::string& name : oracle::golden_names()) {
    SCOPED_TRACE(name);
    const Json golden = oracle::load_golden(name);
    const auto tuner = Tuner::make(oracle::golden_shape(golden), {});
    ASSERT_TRUE(tuner) << tuner.error().message;
    check(golden, *tuner);
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(TuningGolden, LatencyAndBandwidthAreNcclsInEveryFile) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  for_all_golden([](const Json& golden, const Tuner& tuner) {
    const Json& table = golden.at("tuning").at("lat_bw");
    for (int c = 0; c < kTunedCollectives; ++c) {
      for (int a = 0; a < kAlgorithms; ++a) {
        for (int p = 0; p < kProtocols; ++p) {
          const auto collective = static_cast<Collective>(c);
          const auto algorithm = static_cast<Algorithm>(a);
          const auto protocol = static_cast<Protocol>(p);
          const std::string what = name_of(collective, algorithm, protocol);
          const Json& row = table.at(nccl_name(collective));
          const Json want = row.contains(nccl_name(algorithm))
                                ? row.at(nccl_name(algorithm)).at(static_cast<std::size_t>(p))
                                : Json();
          const Cost& cost = tuner.table().cost(collective, algorithm, protocol);
          EXPECT_EQ(cost.bandwidth_gbs > 0, !want.is_null())
              << what << ": " << to_string(cost.obstacle);
          if (want.is_null()) continue;
          expect_near_relative(cost.latency_us, want[0], what + " latency");
          expect_near_relative(cost.bandwidth_gbs, want[1], what + " bandwidth");
        }
      }
    }
  });
}

TEST(TuningGolden, ThreadsAndThresholdsAreNcclsInEveryFile) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  for_all_golden([](const Json& golden, const Tuner& tuner) {
    for (int a = 0; a < kAlgorithms; ++a) {
      const char* name = nccl_name(static_cast<Algorithm>(a));
      const auto index = static_cast<std::size_t>(a);
      EXPECT_EQ(Json(tuner.table().max_threads[index]), golden["tuning"]["maxThreads"][name])
          << name;
      EXPECT_EQ(Json(tuner.table().thread_thresholds[index]),
                golden["tuning"]["threadThresholds"][name])
          << name;
    }
  });
}

/// One row of `choices`: bytes, algorithm, protocol, channels, threads, time, channels used, chunk.
void expect_row(const Tuner& tuner, Collective collective, const Json& row) {
  const auto choice =
      tuner.choose({.collective = collective, .bytes = Bytes{row[0].get<std::uint64_t>()}});
  SCOPED_TRACE(std::string(nccl_name(collective)) + " " + row.dump());
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(nccl_name(choice->algorithm), row[1]);
  EXPECT_EQ(nccl_name(choice->protocol), row[2]);
  EXPECT_EQ(choice->max_channels, row[3]);
  EXPECT_EQ(choice->nthreads, row[4]);
  expect_near_relative(choice->prediction.time_us, row[5], "time");
  if (row[6].is_null()) return;  // nothing to cut
  EXPECT_EQ(choice->channels.nchannels(), row[6]);
  EXPECT_EQ(choice->chunk.value, row[7]);
}

TEST(TuningGolden, EveryChoiceForEverySizeIsNccls) {
  RINGSIDE_SKIP_WITHOUT_ORACLE();
  int rows = 0;
  for_all_golden([&rows](const Json& golden, const Tuner& tuner) {
    for (int c = 0; c < kTunedCollectives; ++c) {
      const auto collective = static_cast<Collective>(c);
      for (const Json& row : golden.at("choices").at(nccl_name(collective))) {
        expect_row(tuner, collective, row);
        ++rows;
      }
    }
  });
  EXPECT_GT(rows, 0);
}

}  // namespace
}  // namespace ringside

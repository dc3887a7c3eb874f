#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sim/fidelity.h"

/// Compares the fidelities of simulations with each other.
namespace ringside {

inline Result<SimResult> by(const char* fidelity, const SimRequest& request) {
  return (*parse_fidelity(fidelity))->run(request);
}

inline void expect_alike(const SimRequest& request, const std::string& what,
                         double tolerance = 0.01) {
  const auto chunk = by("chunk", request);
  const auto event = by("event", request);
  ASSERT_TRUE(chunk) << what << ": " << chunk.error().message;
  ASSERT_TRUE(event) << what << ": " << event.error().message;
  EXPECT_NEAR(event->time.count(), chunk->time.count(), tolerance * chunk->time.count()) << what;
  EXPECT_EQ(event->steps, chunk->steps) << what;
  EXPECT_EQ(event->transfers, chunk->transfers) << what;
  // The event simulation counts the last, shorter chunks as whole ones, so another one of the equal links may have the
  // most bytes.
  const double apart = std::abs((event->busiest - chunk->busiest).count());
  EXPECT_LE(apart, 1e-3 * chunk->busiest.count()) << what;
  if (apart <= 1e-9 * chunk->busiest.count()) {
    EXPECT_EQ(event->busiest_link, chunk->busiest_link) << what;
  }
}

}  // namespace ringside

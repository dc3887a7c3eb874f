#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "engine/runtime/bootstrap/bootstrap.h"

namespace ringside {

inline constexpr Nanoseconds kPlenty = std::chrono::seconds(60);

/// Makes a root on loopback with a new secret.
inline std::unique_ptr<BootstrapRoot> make_root(int nranks, Nanoseconds join_timeout = kPlenty,
                                                Clock& clock = real_clock()) {
  auto root = BootstrapRoot::start(
      {.secret = random_secret(), .nranks = nranks, .join_timeout = join_timeout, .clock = &clock});
  EXPECT_TRUE(root) << root.error().message;
  return *std::move(root);
}

/// Runs `body` for each of `ranks` on a thread of its own and waits for all.
///
/// clock  does not advance until all threads have been started
inline void run_ranks(const std::vector<int>& ranks, const std::function<void(int rank)>& body,
                      Clock& clock = real_clock()) {
  std::vector<std::jthread> threads;
  threads.reserve(ranks.size());
  clock.thread_begins();
  for (const int rank : ranks) {
    threads.push_back(start_thread(clock, [&body, rank](const std::stop_token&) { body(rank); }));
  }
  clock.thread_ends();
}

inline std::vector<int> first_ranks(int nranks) {
  std::vector<int> ranks;
  for (int rank = 0; rank < nranks; ++rank) ranks.push_back(rank);
  return ranks;
}

/// Joins as `rank`; the test fails if that fails.
inline std::unique_ptr<Bootstrap> must_join(int rank, int nranks, const UniqueId& id,
                                            Clock& clock = real_clock()) {
  auto bootstrap = Bootstrap::join(
      {.rank = Rank{rank}, .nranks = nranks, .id = id, .join_timeout = kPlenty, .clock = &clock});
  EXPECT_TRUE(bootstrap) << bootstrap.error().message;
  return bootstrap ? *std::move(bootstrap) : nullptr;
}

}  // namespace ringside

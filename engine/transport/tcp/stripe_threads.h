#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {

/// The threads of one striped end. Each serves its own sockets (a lane is one socket): it moves data until the sockets
/// would block, then waits for them or for wake().
///
/// Threads   any thread may call wake() and status()
/// Ownership the objects that `advance` uses outlive it
class StripeThreads {
 public:
  /// Moves a lane's data, and returns the poll(2) events to wait for next; 0: wait for wake() alone.
  /// errors  any error ends the lane
  using Advance = std::function<Result<short>(std::size_t lane)>;

  StripeThreads() = default;
  ~StripeThreads();
  StripeThreads(const StripeThreads&) = delete;
  StripeThreads& operator=(const StripeThreads&) = delete;

  /// Starts the threads.
  /// sockets  [lane]; thread i modulo `threads` serves lane i
  /// errors  System: out of descriptors
  Status start(std::vector<int> sockets, std::size_t threads, Advance advance);

  /// Makes the lane's thread call `advance` again.
  void wake(std::size_t lane) const;

  /// Returns the first error of any lane. A lane stops at its error.
  [[nodiscard]] Status status() const;

  /// Returns the first error, but reports closed sockets only after all lanes have ended, since other lanes may still
  /// hold data that the peer sent before.
  [[nodiscard]] Status status_of_all() const;

 private:
  void serve(const std::stop_token& stop, std::size_t thread);
  void end_lane(const Error& error);

  std::vector<int> sockets_;
  Advance advance_;
  std::vector<Wakeup> wakeups_;         ///< by thread
  std::atomic<std::size_t> ended_{0};   ///< lanes with an error
  std::atomic<bool> is_broken_{false};  ///< whether a lane has an error other than the peer's close
  mutable std::mutex mutex_;            ///< guards the members below
  std::optional<Error> error_;
  std::vector<std::jthread> threads_;  ///< last member, so that the threads end first
};

}  // namespace ringside

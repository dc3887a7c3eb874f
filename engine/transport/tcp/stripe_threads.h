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

/// The threads of one striped end. Each serves sockets of its own: it moves what it can, then waits until one of them, or
/// wake(), promises more.
///
/// Threads   any thread may call wake() and status()
/// Ownership what `advance` uses outlives it
class StripeThreads {
 public:
  /// What a lane waits for next: poll(2)'s events, 0: for wake() alone.
  /// errors  end the lane
  using Advance = std::function<Result<short>(std::size_t lane)>;

  StripeThreads() = default;
  ~StripeThreads();
  StripeThreads(const StripeThreads&) = delete;
  StripeThreads& operator=(const StripeThreads&) = delete;

  /// sockets  by lane; lane i is served by thread i modulo `threads`
  /// errors  System: out of descriptors
  Status start(std::vector<int> sockets, std::size_t threads, Advance advance);

  /// Has the lane's thread look again.
  void wake(std::size_t lane) const;

  /// The first error of any lane, which then stops.
  [[nodiscard]] Status status() const;

  /// The same, but that a peer closed its sockets counts once all lanes have come to their ends: others still have what it
  /// sent before.
  [[nodiscard]] Status status_of_all() const;

 private:
  void serve(const std::stop_token& stop, std::size_t thread);
  void end_lane(const Error& error);

  std::vector<int> sockets_;
  Advance advance_;
  std::vector<Wakeup> wakeups_;         ///< by thread
  std::atomic<std::size_t> ended_{0};   ///< lanes with an error
  std::atomic<bool> is_broken_{false};  ///< one of them is none of the peer's end
  mutable std::mutex mutex_;            ///< guards what follows
  std::optional<Error> error_;
  std::vector<std::jthread> threads_;  ///< the last: they end first
};

}  // namespace ringside

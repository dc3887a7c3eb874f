#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringside {

/// The progress of one direction of one connection, which observers can read while it changes.
///
/// Threads  one thread writes; any thread may read
struct ConnectionCount {
  std::atomic<std::uint64_t> messages{0}, bytes{0};
  /// Whether its rank has been waiting on this connection for a while
  std::atomic<bool> is_waiting{false};

  void add(std::size_t size) {
    messages.store(messages.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bytes.store(bytes.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
  }
};

}  // namespace ringside

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ringside {

/// How far one direction of one connection has come, as observers see it while it goes on.
///
/// Threads  one adds; any may look
struct ConnectionCount {
  std::atomic<std::uint64_t> messages{0}, bytes{0};
  std::atomic<bool> is_waiting{false};  ///< its rank has waited for it for a while, and still does

  void add(std::size_t size) {
    messages.store(messages.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    bytes.store(bytes.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);
  }
};

}  // namespace ringside

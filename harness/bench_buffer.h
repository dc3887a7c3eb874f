#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/result.h"
#include "engine/transport/shm/shared_memory.h"

namespace ringside {

/// A buffer of a benchmark, in memory shared with the ranks of this host or in private memory.
class BenchBuffer {
 public:
  /// Byte that fills outputs before a call. No small whole number of any type has this bit pattern.
  static constexpr int kPoison = 0xA5;

  BenchBuffer() = default;
  /// Allocates a buffer and fills it with kPoison, so that page faults do not occur in the timed
  /// runs.
  /// errors  System: out of memory
  static Result<BenchBuffer> make(std::size_t size, bool is_shared);

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::optional<SharedMemory> shared_;
  std::unique_ptr<std::byte[], Free> own_;
  std::byte* data_ = nullptr;
};

}  // namespace ringside

#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/result.h"
#include "engine/transport/shm/shared_memory.h"

namespace ringside {

/// Memory that a benchmark reads or writes: shared with the ranks of this host, or this process's own.
class BenchBuffer {
 public:
  /// Fills what a collective must overwrite: no small whole number of any type looks like it.
  static constexpr int kPoison = 0xA5;

  BenchBuffer() = default;
  /// Filled with kPoison, so that its pages come now and not within the timed runs.
  /// errors  System: no memory
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

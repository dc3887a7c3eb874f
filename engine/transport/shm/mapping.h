#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"

namespace ringside {

/// A shared memory mapping of a file; the destructor unmaps it.
class Mapping {
 public:
  /// Maps the first `size` bytes and populates all pages, since page faults during a transfer would appear as noise.
  /// errors  System
  static Result<Mapping> map(int fd, std::size_t size);

  Mapping(Mapping&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  [[nodiscard]] std::byte* data() const { return memory_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Mapping(std::byte* memory, std::size_t size) : memory_(memory), size_(size) {}
  std::byte* memory_;
  std::size_t size_;
};

}  // namespace ringside

#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::logs {

/// A part of a file in memory, without a copy. If the file is truncated, the bytes after its end read as zeros and
/// was_cut() returns true: the signal (SIGBUS) that this would raise is caught while there is any mapping; a SIGBUS
/// at another address goes to the previous handler.
///
/// Threads  one, and one mapping per thread at a time
class Mapping {
 public:
  Mapping() = default;

  /// offset  a multiple of the page size. data() is null where it cannot be mapped.
  Mapping(int fd, std::uint64_t offset, std::size_t size);
  ~Mapping() { release(); }
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool was_cut() const;

 private:
  void release();

  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ringside::logs

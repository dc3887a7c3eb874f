#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::logs {

/// A memory-mapped part of a file. If the file is truncated while it is mapped, the bytes after its end read as zeros
/// and was_cut() returns true: the class handles the SIGBUS. A SIGBUS at another address goes to the previous handler.
///
/// Threads  one thread uses a mapping, and reads only the mapping that it has made last
class Mapping {
 public:
  Mapping() = default;

  /// Maps `size` bytes. data() is nullptr if that fails.
  /// offset  a multiple of the page size
  Mapping(int fd, std::uint64_t offset, std::size_t size);
  ~Mapping() { release(); }
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns whether bytes were read that the file no longer has.  shape  the mapping that the thread has made last
  [[nodiscard]] bool was_cut() const;

 private:
  void release();

  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ringside::logs

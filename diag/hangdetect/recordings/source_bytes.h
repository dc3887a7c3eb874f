#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

#include "diag/logparse/byte_source.h"

namespace ringside::recordings {

/// The bytes of a source for the parser, which reads each once.
class SourceBytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  struct Buffer {
    logs::ByteSource* source = nullptr;
    std::vector<char> bytes = std::vector<char>(1U << 18U);
    std::size_t at = 0, size = 0;
    bool is_at_end = false;
    std::optional<Error> error = {};

    void fill() {
      auto read = source->read(bytes);
      at = 0;
      size = read ? *read : 0;
      if (!read) error = read.error();
      is_at_end = size == 0;
    }
  };

  SourceBytes() = default;
  explicit SourceBytes(Buffer* buffer) : buffer_(buffer) {
    if (buffer_->size == 0) buffer_->fill();
  }
  reference operator*() const { return buffer_->bytes[buffer_->at]; }
  SourceBytes& operator++() {
    if (++buffer_->at == buffer_->size) buffer_->fill();
    return *this;
  }
  SourceBytes operator++(int) {
    ++*this;
    return *this;
  }
  friend bool operator==(const SourceBytes& a, const SourceBytes& b) {
    return a.is_at_end() == b.is_at_end();
  }

 private:
  [[nodiscard]] bool is_at_end() const { return buffer_ == nullptr || buffer_->is_at_end; }
  Buffer* buffer_ = nullptr;
};

}  // namespace ringside::recordings

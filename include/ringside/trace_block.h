#pragma once

#include <ringside/export.h>
#include <ringside/trace_event.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace RINGSIDE_API ringside {

/// One field of all events of a block, read from the file in place: one entry per event, or one for
/// all events.
template <typename T>
class TraceColumn {
 public:
  TraceColumn() = default;
  explicit TraceColumn(T same) : same_(same) {}
  explicit TraceColumn(const T* entries) : entries_(entries) {}

  T operator[](std::size_t i) const { return entries_ != nullptr ? entries_[i] : same_; }
  [[nodiscard]] bool is_constant() const { return entries_ == nullptr; }

 private:
  const T* entries_ = nullptr;
  T same_{};
};

/// The columns of a block. Enumerations are plain bytes, as a newer ringside may define more
/// values.
struct TraceColumns {
  TraceColumn<std::int64_t> begin_ns;
  TraceColumn<std::int64_t> end_ns;
  TraceColumn<std::uint64_t> offset;
  TraceColumn<std::uint64_t> bytes;
  TraceColumn<std::uint32_t> sequence;
  TraceColumn<std::uint32_t> communicator;
  TraceColumn<std::int32_t> rank;
  TraceColumn<std::int32_t> recv_peer;
  TraceColumn<std::int32_t> send_peer;
  TraceColumn<std::uint32_t> step;
  TraceColumn<std::uint16_t> channel;
  TraceColumn<std::uint8_t> kind;
  TraceColumn<std::uint8_t> primitive;
  TraceColumn<std::uint8_t> collective;
  TraceColumn<std::uint8_t> algorithm;
  TraceColumn<std::uint8_t> protocol;
  TraceColumn<std::uint8_t> is_modelled;
};

/// A block of events that one thread recorded in order.
///
/// Ownership  points into the file: must not outlive it
class TraceBlock {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint32_t pid() const { return pid_; }
  [[nodiscard]] const TraceColumns& columns() const { return columns_; }

  /// Returns true if this build understands event `i`: known words, end >= begin, times within 2^62
  /// ns, rank >= 0. Readers skip other events.
  [[nodiscard]] bool is_readable(std::size_t i) const;

  /// Returns event `i`.  shape  i < size(), is_readable(i)
  [[nodiscard]] TraceEvent event(std::size_t i) const;

  /// Calls visit(const TraceEvent&) for each readable event.
  template <typename Visit>
  void for_each_event(Visit&& visit) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (is_readable(i)) visit(event(i));
    }
  }

 private:
  friend class TraceFile;
  friend class BlockDecoder;

  std::size_t size_ = 0;
  std::uint32_t pid_ = 0;
  TraceColumns columns_;
  /// Copy of a payload that a torn block has left unaligned.
  std::unique_ptr<std::uint64_t[]> aligned_copy_;
};

}  // namespace ringside

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ringside/trace_reader.h"

namespace ringside {

/// The number of an event in the order of the file, unreadable events included: 0, 1, ...
enum class EventId : std::uint32_t {};
inline constexpr EventId kNoEvent{UINT32_MAX};
constexpr std::uint32_t to_int(EventId id) { return static_cast<std::uint32_t>(id); }

/// A half-open range: [begin_ns, end_ns).
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  /// Returns true if an event from `begin` to `end` overlaps the range. An event of zero length
  /// overlaps if it begins in it.
  [[nodiscard]] bool overlaps(std::int64_t begin, std::int64_t end) const {
    return begin < end_ns && (end > begin_ns || begin >= begin_ns);
  }
};

/// The events of a file by number, read in place; about 300 bytes per block.
///
/// Threads    any
/// Ownership  shares the file
class EventTable {
 public:
  /// The fields of an event for an overview.
  struct Outline {
    TimeRange time;
    Primitive primitive;
  };

  /// errors  Unsupported: more than 2^32 - 1 events
  static Result<EventTable> make(std::shared_ptr<const TraceFile> file);

  [[nodiscard]] const TraceFile& file() const { return *file_; }
  [[nodiscard]] std::size_t size() const { return first_.back(); }
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }
  [[nodiscard]] const TraceBlock& block(std::size_t index) const { return blocks_[index]; }
  [[nodiscard]] std::uint32_t first_of(std::size_t block) const { return first_[block]; }

  /// Returns the event.  shape  id < size(), and readable.  takes  O(log blocks)
  [[nodiscard]] TraceEvent event(EventId id) const;
  [[nodiscard]] TimeRange times(EventId id) const;
  [[nodiscard]] Outline outline(EventId id) const;

 private:
  struct Place {
    const TraceBlock* block;
    std::size_t index;
  };
  [[nodiscard]] Place place(EventId id) const;

  std::shared_ptr<const TraceFile> file_;
  std::vector<TraceBlock> blocks_;
  std::vector<std::uint32_t> first_{0};  ///< number of each block's first event, followed by size()
};

}  // namespace ringside

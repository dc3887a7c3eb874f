#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ringside/trace_reader.h"

namespace ringside {

/// An event's place in the file's order, those that cannot be read included: 0, 1, ...
enum class EventId : std::uint32_t {};
inline constexpr EventId kNoEvent{UINT32_MAX};
constexpr std::uint32_t to_int(EventId id) { return static_cast<std::uint32_t>(id); }

/// Half open: from begin_ns up to, not including, end_ns.
struct TimeRange {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  /// Whether something that lasts from `begin` to `end` is seen in the range; what takes no time is, where
  /// it begins in the range.
  [[nodiscard]] bool overlaps(std::int64_t begin, std::int64_t end) const {
    return begin < end_ns && (end > begin_ns || begin >= begin_ns);
  }
};

/// The events of a file by number, read where they lie: about 300 bytes for each block of them.
///
/// Threads    any
/// Ownership  shares the file
class EventTable {
 public:
  /// What an event is from afar.
  struct Outline {
    TimeRange time;
    Primitive primitive;
  };

  /// errors  Unsupported: more events than there are numbers (2^32 - 1)
  static Result<EventTable> make(std::shared_ptr<const TraceFile> file);

  [[nodiscard]] const TraceFile& file() const { return *file_; }
  [[nodiscard]] std::size_t size() const { return first_.back(); }
  [[nodiscard]] std::size_t block_count() const { return blocks_.size(); }
  [[nodiscard]] const TraceBlock& block(std::size_t index) const { return blocks_[index]; }
  [[nodiscard]] std::uint32_t first_of(std::size_t block) const { return first_[block]; }

  /// shape  id < size(), and readable.  takes  O(log blocks)
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
  std::vector<std::uint32_t> first_{0};  ///< number of each block's first event; at the end, of all
};

}  // namespace ringside

#include "trace/replay/event_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace ringside {

Result<EventTable> EventTable::make(std::shared_ptr<const TraceFile> file) {
  EventTable table;
  table.blocks_.reserve(file->block_count());
  table.first_.reserve(file->block_count() + 1);
  std::uint64_t events = 0;
  for (std::size_t i = 0; i < file->block_count(); ++i) {
    events += table.blocks_.emplace_back(file->block(i)).size();
    if (events >= to_int(kNoEvent)) {
      return Error{ErrorCode::Unsupported,
                   fmt::format("the trace has more than {} events", to_int(kNoEvent)),
                   "record fewer ranks or less time in one file"};
    }
    table.first_.push_back(static_cast<std::uint32_t>(events));
  }
  table.file_ = std::move(file);
  return table;
}

EventTable::Place EventTable::place(EventId id) const {
  const std::uint32_t number = to_int(id);
  RINGSIDE_ASSERT(number < size(), "event {} of {}", number, size());
  // Most blocks hold as many events as the others: the first guess is seldom wrong.
  const std::size_t guess = std::size_t{number} * block_count() / size();
  if (first_[guess] <= number && number < first_[guess + 1]) {
    return {&blocks_[guess], number - first_[guess]};
  }
  const auto after = std::upper_bound(first_.begin(), first_.end(), number);
  const auto block = static_cast<std::size_t>(after - first_.begin()) - 1;
  return {&blocks_[block], number - first_[block]};
}

TraceEvent EventTable::event(EventId id) const {
  const auto [block, index] = place(id);
  return block->event(index);
}

TimeRange EventTable::times(EventId id) const {
  const auto [block, index] = place(id);
  return {block->columns().begin_ns[index], block->columns().end_ns[index]};
}

EventTable::Outline EventTable::outline(EventId id) const {
  const auto [block, index] = place(id);
  const TraceColumns& columns = block->columns();
  return {{columns.begin_ns[index], columns.end_ns[index]},
          static_cast<Primitive>(columns.primitive[index])};
}

}  // namespace ringside

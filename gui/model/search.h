#pragma once

#include <optional>
#include <string_view>

#include "gui/model/state.h"

namespace ringside::gui {

/// A search for events. An event must match every word of `rank=3 channel=2 call=5 recv_reduce_send
/// waiting >10us`.
struct Query {
  std::optional<std::int64_t> rank = {}, channel = {}, call = {}, step = {}, peer = {};
  std::optional<Primitive> primitive = {};
  std::optional<Collective> collective = {};
  std::optional<Nanoseconds> longer_than = {};
  bool is_waiting = false;
};

/// errors  InvalidArgument: an unknown word; the message lists the known ones
Result<Query> parse_query(std::string_view text);

/// Returns the next (or previous) matching event by begin time, relative to the selected event,
/// else to the current time. The search wraps around at the end.
/// takes  O(events) if few match
std::optional<EventId> find_event(const Document& document, const Query& query, const State& state,
                                  bool is_forward);

/// Returns the longest matching event.
std::optional<EventId> find_longest(const Document& document, const Query& query);

}  // namespace ringside::gui

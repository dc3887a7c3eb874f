#pragma once

#include <optional>
#include <string_view>

#include "gui/model/state.h"

namespace ringside::gui {

/// What an event must be: every word of `rank=3 channel=2 call=5 recv_reduce_send waiting >10us` holds.
struct Query {
  std::optional<std::int64_t> rank = {}, channel = {}, call = {}, step = {}, peer = {};
  std::optional<Primitive> primitive = {};
  std::optional<Collective> collective = {};
  std::optional<Nanoseconds> longer_than = {};
  bool is_waiting = false;
};

/// errors  InvalidArgument: an unknown word; the message lists the known ones
Result<Query> parse_query(std::string_view text);

/// The next matching event by its beginning, after (or before) the chosen one, or after the moment; wraps around the
/// end.
/// takes  O(events) if few match
std::optional<EventId> find_event(const Document& document, const Query& query, const State& state,
                                  bool is_forward);

/// The longest matching event.
std::optional<EventId> find_longest(const Document& document, const Query& query);

}  // namespace ringside::gui

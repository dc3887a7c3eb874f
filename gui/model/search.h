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

/// errors  InvalidArgument: a word that means nothing; with those that do
Result<Query> parse_query(std::string_view text);

/// The next event by its beginning that fits, behind (or before) the chosen one, or behind the moment; round the end.
/// takes  O(events) where few fit
std::optional<EventId> find_event(const Document& document, const Query& query, const State& state,
                                  bool is_forward);

/// The longest that fits.
std::optional<EventId> find_longest(const Document& document, const Query& query);

}  // namespace ringside::gui

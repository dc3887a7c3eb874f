#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/model/document.h"

namespace ringside::gui {

enum class View : std::uint8_t { Timeline, Topology, Chunks, Slots, Numbers, Findings, Compare };
inline constexpr int kViews = 7;
const char* to_string(View view);  ///< timeline, topology, ...
/// errors  InvalidArgument: no such view; the nearest is named
Result<View> parse_view(std::string_view text);

/// So many hundredths of it; 100 are all of it.
constexpr std::int64_t share_of(std::int64_t whole, std::int64_t percent) {
  return whole / 100 * percent + whole % 100 * percent / 100;
}

/// How lanes are grouped.
enum class Grouping : std::uint8_t { ByRank, ByChannel };

/// The connection whose slots are shown.
struct ConnectionKey {
  std::uint32_t communicator = 0;
  std::int32_t sender = 0, receiver = 0;
  std::uint16_t channel = 0;
  friend auto operator<=>(const ConnectionKey&, const ConnectionKey&) = default;
};

/// The user's settings: one clock, one selection, one range of time for all views.
struct State {
  View view = View::Timeline;
  std::int64_t now_ns = 0;
  double part_ns = 0;  ///< of the next nanosecond: at 1 ns/s a frame is less than one
  TimeRange visible;
  EventId event = kNoEvent;
  std::optional<ConnectionKey> connection = {};
  std::optional<std::int32_t> channel = {};  ///< whose ring or tree is laid over the topology
  bool is_playing = false;
  bool loops = false;
  double speed = 10'000;  ///< ns of the trace in a second
  std::optional<TimeRange> ruler = {};
  std::vector<std::int64_t> bookmarks = {};
  Grouping grouping = Grouping::ByRank;
  std::set<std::uint64_t> turned = {};  ///< rows whose folding differs from the default
  float scroll = 0;                     ///< px, of the timeline's rows
  std::string search = {};
  bool is_dark = true;
  bool shows_help = false;
};

/// At the beginning of the document, with all of it visible.
State first_state(const Document& document);

/// Advances the time, and stops at the end or starts again. seconds  of the user's clock
void advance(State& state, const Document& document, double seconds);

/// Zooms by the factor around that moment, between 10 ns and the whole with a margin.
void zoom(State& state, const Document& document, double factor, std::int64_t around_ns);
void pan(State& state, const Document& document, double share_of_visible);
void show_range(State& state, const Document& document, TimeRange range);
/// Scrolls to the moment, keeping the scale.
void show_time(State& state, const Document& document, std::int64_t time_ns);
void select(State& state, const Document& document, EventId event);

/// The unit of a step.
enum class Stride : std::uint8_t { Primitive, Round, Chunk, Call };

/// To the next end of a primitive (of the chosen event's lane, else of any), to where every rank has completed one
/// more step, to the next primitive on the same bytes, to the next call; or back.
void step(State& state, const Document& document, Stride stride, bool is_forward);

/// When the last rank had ended its nth step of the call, for each n: a round ends when all ranks have completed one
/// more.
std::vector<std::int64_t> round_ends(const Replay& replay, const CallFacts& call);

}  // namespace ringside::gui

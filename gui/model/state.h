#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/model/document.h"

namespace ringside::gui {

/// The views of the window.
enum class View : std::uint8_t { Timeline, Topology, Chunks, Slots, Numbers, Findings, Compare };
inline constexpr int kViews = 7;
const char* to_string(View view);  ///< timeline, topology, ...
/// errors  InvalidArgument: no such view; the nearest is named
Result<View> parse_view(std::string_view text);

/// Returns `percent` % of `whole`, rounded down, without overflow for any trace time; 100 returns exactly `whole`.
constexpr std::int64_t share_of(std::int64_t whole, std::int64_t percent) {
  return whole / 100 * percent + whole % 100 * percent / 100;
}

/// How lanes are grouped.
enum class Grouping : std::uint8_t { ByRank, ByChannel };

/// A connection: one direction of a channel between two ranks.
struct ConnectionKey {
  std::uint32_t communicator = 0;
  std::int32_t sender = 0, receiver = 0;
  std::uint16_t channel = 0;
  friend auto operator<=>(const ConnectionKey&, const ConnectionKey&) = default;
};

/// The user's settings. All views share the current time, the selection and the visible range.
struct State {
  View view = View::Timeline;
  std::int64_t now_ns = 0;
  /// Fraction of the next nanosecond: at 1 ns/s a frame advances by less than one.
  double part_ns = 0;
  TimeRange visible;
  EventId event = kNoEvent;
  std::optional<ConnectionKey> connection = {};
  std::optional<std::int32_t> channel = {};  ///< channel whose ring or tree the topology view shows
  bool is_playing = false;
  bool loops = false;
  double speed = 10'000;  ///< playback speed: trace ns per second
  std::optional<TimeRange> ruler = {};
  std::vector<std::int64_t> bookmarks = {};
  Grouping grouping = Grouping::ByRank;
  std::set<std::uint64_t> turned = {};  ///< rows whose folding the user has toggled
  float scroll = 0;                     ///< scroll position of the timeline's rows, px
  std::string search = {};
  bool is_dark = true;
  bool shows_help = false;
};

/// Returns the state at the beginning of the document, with the whole document visible.
State first_state(const Document& document);

/// Returns a time at which a still picture shows work: the middle of a call of the first communicator, of the one that is
/// nearest to the middle of the document; the end of a document with calls that never ended.
std::int64_t moment_of_still(const Document& document);

/// Advances the time; at the end it stops or starts again. seconds  elapsed real time
void advance(State& state, const Document& document, double seconds);

/// Zooms by the factor around a time. The visible range stays between 10 ns and the whole document
/// with a margin.
void zoom(State& state, const Document& document, double factor, std::int64_t around_ns);
/// Moves the visible range by a share of its length; negative: to earlier times.
void pan(State& state, const Document& document, double share_of_visible);
/// Makes a range visible, within the limits of zoom().
void show_range(State& state, const Document& document, TimeRange range);
/// Scrolls to a time at the same scale, unless it is visible.
void show_time(State& state, const Document& document, std::int64_t time_ns);
/// Selects an event (kNoEvent: none), and the channel and connection of a primitive.
void select(State& state, const Document& document, EventId event);

/// The unit of a step through time.
enum class Stride : std::uint8_t { Primitive, Round, Chunk, Call };

/// Moves forward or back: to the next end of a primitive (of the selected event's lane, or else of
/// any lane), the next end of a round, the next primitive on the same bytes, or the next call.
void step(State& state, const Document& document, Stride stride, bool is_forward);

/// Returns for each n the time at which the last rank ended its nth step of the call: the end of
/// round n.
std::vector<std::int64_t> round_ends(const Replay& replay, const CallFacts& call);

}  // namespace ringside::gui

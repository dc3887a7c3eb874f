#include "gui/model/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/vocabulary.h"
#include "base/wording.h"
#include "gui/model/compare.h"
#include "gui/model/search.h"

namespace ringside::gui {
namespace {

constexpr double kSlowest = 1;     // ns in a second
constexpr double kFastest = 1e13;  // hours in a second
constexpr float kRowsAStep = 60;   // px

std::vector<std::string> lines_of(std::string text) {
  if (text.empty()) return {};
  return {std::move(text)};
}

}  // namespace

void Session::show(std::shared_ptr<const Document> document) {
  document_ = std::move(document);
  // Views keep data of the previous document.
  timeline_ = {};
  chunks_.forget();
  slots_.forget();
  numbers_.forget();
  topology_.forget();
}

bool Session::is_untouched() const {
  if (document_ == nullptr) return true;
  const State first = first_state(*document_);
  return state_.now_ns == first.now_ns && state_.visible.begin_ns == first.visible.begin_ns &&
         state_.visible.end_ns == first.visible.end_ns && state_.event == kNoEvent &&
         !state_.is_playing && state_.bookmarks.empty() && !state_.ruler;
}

void Session::complete(std::shared_ptr<const Document> document) {
  if (is_untouched()) return open(std::move(document));
  show(std::move(document));
}

void Session::replace(std::shared_ptr<const Document> document) {
  if (document_ == nullptr) return open(std::move(document));
  const TimeRange before = document_->whole();
  const State was = state_;
  open(std::move(document));
  state_.is_playing = was.is_playing;
  state_.loops = was.loops;
  state_.channel = was.channel;
  const double share = static_cast<double>(was.now_ns - before.begin_ns) /
                       static_cast<double>(before.end_ns - before.begin_ns);
  const TimeRange now = document_->whole();
  state_.now_ns = now.begin_ns + std::llround(std::clamp(share, 0.0, 1.0) *
                                              static_cast<double>(now.end_ns - now.begin_ns));
}

void Session::open(std::shared_ptr<const Document> document) {
  const bool was_dark = state_.is_dark;
  const View view = state_.view;
  show(std::move(document));
  state_ = first_state(*document_);
  state_.is_dark = was_dark;
  state_.view = view;
  message.clear();
}

const Panel& Session::prepare(const Canvas& canvas) { return prepare(state_.view, canvas); }

const Panel& Session::prepare(View view, const Canvas& canvas) {
  panel_.clear();
  if (document_ == nullptr) return panel_;
  switch (view) {
    case View::Timeline:
      timeline_.prepare(*document_, state_, canvas, panel_);
      // A higher canvas leaves less to scroll.
      if (state_.scroll > timeline_.most_scroll()) {
        state_.scroll = timeline_.most_scroll();
        panel_.clear();
        timeline_.prepare(*document_, state_, canvas, panel_);
      }
      break;
    case View::Topology:
      topology_.prepare(document_, state_, canvas, panel_);
      break;
    case View::Chunks:
      chunks_.prepare(document_, state_, canvas, panel_);
      break;
    case View::Slots:
      slots_.prepare(document_, state_, canvas, panel_);
      break;
    case View::Numbers:
      numbers_.prepare(document_, state_, canvas, panel_);
      break;
    case View::Findings:
      prepare_findings(*document_, canvas, panel_);
      break;
    case View::Compare:
      prepare_compare(*document_, other_.get(), state_, panel_);
      break;
  }
  return panel_;
}

void Session::click(const Target& target, std::int64_t time_ns) {
  if (document_ == nullptr) return;
  switch (target.kind) {
    case Target::Kind::Event:
      select(state_, *document_, EventId{target.a});
      state_.now_ns = state_.view == View::Timeline
                          ? time_ns
                          : document_->replay->event(EventId{target.a}).end_ns;
      break;
    case Target::Kind::Fold: {
      const auto& rows = timeline_.rows().rows();
      if (target.a >= rows.size()) break;
      const std::uint64_t key = rows[target.a].key;
      if (state_.turned.erase(key) == 0) state_.turned.insert(key);
      break;
    }
    case Target::Kind::Call:
      state_.now_ns = target.c;
      if (const CallFacts* const call = document_->find_call(target.a, target.b)) {
        show_range(state_, *document_, call->time);
      }
      state_.view = View::Timeline;
      break;
    case Target::Kind::Rank:
      go_to_rank(static_cast<std::int32_t>(target.a));
      break;
    case Target::Kind::Connection:
      // The communicator is in the upper half, next to the channel.
      state_.connection = ConnectionKey{
          static_cast<std::uint32_t>(target.c >> 16), static_cast<std::int32_t>(target.a),
          static_cast<std::int32_t>(target.b), static_cast<std::uint16_t>(target.c & 0xFFFF)};
      break;
    case Target::Kind::Place:
    case Target::Kind::Chunks:
    case Target::Kind::Tip:
      break;
    case Target::Kind::Time:
    case Target::Kind::Row:
    case Target::Kind::None:
      state_.now_ns = time_ns;
      if (target.kind != Target::Kind::Time) state_.event = kNoEvent;
      break;
  }
}

void Session::go_to_rank(std::int32_t rank) {
  state_.view = View::Timeline;
  timeline_.prepare(*document_, state_, {.width = 1000, .height = 600}, panel_);
  const auto& rows = timeline_.rows().rows();
  const auto found = std::ranges::find(rows, rank, &LaneRow::rank);
  if (found == rows.end()) return;
  state_.scroll = std::min(static_cast<float>(found - rows.begin()) * timeline_.row_height(),
                           timeline_.most_scroll());
}

void Session::show_current_call() {
  const CallFacts* const call = document_ == nullptr ? nullptr : document_->call_at(state_.now_ns);
  if (call == nullptr) return;
  Panel unused;
  const Canvas canvas{.width = 1000, .height = 600};
  timeline_.prepare(*document_, state_, canvas, unused);
  const auto& rows = timeline_.rows().rows();
  const auto shows = [&](const LaneRow& row) {
    return std::ranges::any_of(row.lanes, [&](LaneId lane) {
      return document_->replay->lanes()[static_cast<std::size_t>(lane)].communicator ==
             call->communicator;
    });
  };
  const auto found = std::ranges::find_if(rows, shows);
  const float y = static_cast<float>(found - rows.begin()) * timeline_.row_height();
  if (found == rows.end() || y < canvas.height / 2) return;
  // With the group's heading, and some of what is above.
  state_.scroll = std::clamp(y - canvas.height / 3, 0.0F, timeline_.most_scroll());
}

/// Scrolls to the event's row.
void Session::scroll_to(EventId event) {
  const TraceEvent chosen = document_->replay->event(event);
  const bool is_call = chosen.kind == EventKind::Collective;
  const auto lane = document_->replay->find(
      {chosen.communicator, chosen.rank,
       is_call ? LaneKey::kCalls : static_cast<std::int32_t>(chosen.channel)});
  if (!lane) return;
  const int row = timeline_.rows().row_of(*lane);
  if (row < 0) return;
  const float y = static_cast<float>(row) * timeline_.row_height();
  constexpr float kSeen = 300;
  if (y < state_.scroll || y > state_.scroll + kSeen)
    state_.scroll = std::clamp(y - kSeen / 2, 0.0F, timeline_.most_scroll());
}

void Session::search(Search what) {
  const auto query = parse_query(state_.search);
  if (!query) {
    message = fmt::format("{}; {}", query.error().message, query.error().help);
    return;
  }
  const auto found = what == Search::Longest
                         ? find_longest(*document_, *query)
                         : find_event(*document_, *query, state_, what == Search::Next);
  if (!found) {
    message = fmt::format("nothing is '{}'", state_.search);
    return;
  }
  select(state_, *document_, *found);
  const TraceEvent event = document_->replay->event(*found);
  state_.now_ns = event.begin_ns;
  show_time(state_, *document_, event.begin_ns);
  scroll_to(*found);
  message = describe(*document_, *found).front();
}

void Session::fit_chosen() {
  if (state_.event != kNoEvent) {
    const TraceEvent event = document_->replay->event(state_.event);
    constexpr std::int64_t kMost = std::int64_t{1} << 61;  // with times up to 2^62 it fits
    const std::int64_t length = std::clamp<std::int64_t>(event.end_ns - event.begin_ns, 10, kMost);
    show_range(state_, *document_, {event.begin_ns - length, event.end_ns + length});
  } else if (state_.ruler) {
    show_range(state_, *document_, *state_.ruler);
  } else if (const CallFacts* const call = document_->call_at(state_.now_ns)) {
    const std::int64_t margin =
        std::max<std::int64_t>((call->time.end_ns - call->time.begin_ns) / 30, 1);
    show_range(state_, *document_, {call->time.begin_ns - margin, call->time.end_ns + margin});
  }
}

void Session::next_bookmark() {
  if (state_.bookmarks.empty()) return;
  const auto behind = std::ranges::upper_bound(state_.bookmarks, state_.now_ns);
  state_.now_ns = behind == state_.bookmarks.end() ? state_.bookmarks.front() : *behind;
  show_time(state_, *document_, state_.now_ns);
}

void Session::turn_channel(int by) {
  std::int32_t most = 0;
  for (const LaneKey& lane : document_->replay->lanes()) most = std::max(most, lane.channel);
  const std::int32_t channels = most + 1;
  state_.channel = ((state_.channel.value_or(0) + by) % channels + channels) % channels;
}

void Session::fold_all() {
  timeline_.prepare(*document_, state_, {.width = 1000, .height = 600}, panel_);
  bool is_any_open = false;
  const std::vector<LaneRow>& rows = timeline_.rows().rows();
  for (const LaneRow& row : rows)
    is_any_open |= row.kind == LaneRow::Kind::Rank && row.can_fold && !row.is_folded;
  std::vector<std::uint64_t> turn;
  for (const LaneRow& row : rows) {
    if (row.kind == LaneRow::Kind::Rank && row.can_fold && row.is_folded != is_any_open)
      turn.push_back(row.key);
  }
  for (const std::uint64_t key : turn) {
    if (state_.turned.erase(key) == 0) state_.turned.insert(key);
  }
}

void Session::press(Command command) {
  if (document_ == nullptr) return;
  const auto stride = [&](Stride by, bool is_forward) { step(state_, *document_, by, is_forward); };
  const auto view = [&](View one) { state_.view = one; };
  switch (command) {
    case Command::Play:
      if (!state_.is_playing && state_.now_ns >= document_->whole().end_ns)
        state_.now_ns = document_->whole().begin_ns;
      state_.is_playing = !state_.is_playing;
      return;
    case Command::Loop:
      state_.loops = !state_.loops;
      return;
    case Command::Faster:
      state_.speed = std::min(state_.speed * 2, kFastest);
      return;
    case Command::Slower:
      state_.speed = std::max(state_.speed / 2, kSlowest);
      return;
    case Command::NextPrimitive:
      return stride(Stride::Primitive, true);
    case Command::LastPrimitive:
      return stride(Stride::Primitive, false);
    case Command::NextRound:
      return stride(Stride::Round, true);
    case Command::LastRound:
      return stride(Stride::Round, false);
    case Command::NextChunk:
      return stride(Stride::Chunk, true);
    case Command::LastChunk:
      return stride(Stride::Chunk, false);
    case Command::NextCall:
      return stride(Stride::Call, true);
    case Command::LastCall:
      return stride(Stride::Call, false);
    case Command::ToBegin:
      state_.now_ns = document_->whole().begin_ns;
      return show_time(state_, *document_, state_.now_ns);
    case Command::ToEnd:
      state_.now_ns = document_->whole().end_ns;
      return show_time(state_, *document_, state_.now_ns);
    case Command::ZoomIn:
      return zoom(state_, *document_, 0.5, state_.now_ns);
    case Command::ZoomOut:
      return zoom(state_, *document_, 2, state_.now_ns);
    case Command::Fit:
      return show_range(state_, *document_, {INT64_MIN / 4, INT64_MAX / 4});
    case Command::FitChosen:
      return fit_chosen();
    case Command::Left:
      return pan(state_, *document_, -0.1);
    case Command::Right:
      return pan(state_, *document_, 0.1);
    case Command::Up:
      state_.scroll = std::max(0.0F, state_.scroll - kRowsAStep);
      return;
    case Command::Down:
      state_.scroll = std::min(timeline_.most_scroll(), state_.scroll + kRowsAStep);
      return;
    case Command::RulerFrom:
      state_.ruler = TimeRange{
          state_.now_ns,
          std::max(state_.ruler ? state_.ruler->end_ns : state_.now_ns + 1, state_.now_ns + 1)};
      return;
    case Command::RulerTo:
      state_.ruler =
          TimeRange{std::min(state_.ruler ? state_.ruler->begin_ns : document_->whole().begin_ns,
                             state_.now_ns - 1),
                    state_.now_ns};
      return;
    case Command::NoRuler:
      state_.ruler.reset();
      return;
    case Command::Bookmark: {
      const auto at = std::ranges::lower_bound(state_.bookmarks, state_.now_ns);
      if (at != state_.bookmarks.end() && *at == state_.now_ns) {
        state_.bookmarks.erase(at);
      } else {
        state_.bookmarks.insert(at, state_.now_ns);
      }
      return;
    }
    case Command::NextBookmark:
      return next_bookmark();
    case Command::Open:
    case Command::Search:
    case Command::Close:
    case Command::MoreRanks:
    case Command::FewerRanks:
    case Command::MoreBytes:
    case Command::FewerBytes:
    case Command::LargerChunks:
    case Command::SmallerChunks:
      return;  // the window's
    case Command::FindNext:
      return search(Search::Next);
    case Command::FindLast:
      return search(Search::Last);
    case Command::FindLongest:
      return search(Search::Longest);
    case Command::Group:
      state_.grouping =
          state_.grouping == Grouping::ByRank ? Grouping::ByChannel : Grouping::ByRank;
      state_.scroll = 0;
      return;
    case Command::FoldAll:
      return fold_all();
    case Command::NextChannel:
      return turn_channel(1);
    case Command::LastChannel:
      return turn_channel(-1);
    case Command::Theme:
      state_.is_dark = !state_.is_dark;
      return;
    case Command::Help:
      state_.shows_help = !state_.shows_help;
      return;
    case Command::Escape:
      if (!state_.shows_help) state_.event = kNoEvent;
      state_.shows_help = false;
      message.clear();
      return;
    case Command::View1:
      return view(View::Timeline);
    case Command::View2:
      return view(View::Topology);
    case Command::View3:
      return view(View::Chunks);
    case Command::View4:
      return view(View::Slots);
    case Command::View5:
      return view(View::Numbers);
    case Command::View6:
      return view(View::Findings);
    case Command::View7:
      return view(View::Compare);
  }
}

std::vector<std::string> Session::tip(const Target& target) {
  if (document_ == nullptr) return {};
  if (target.kind == Target::Kind::Event) {
    std::vector<std::string> lines = describe(*document_, EventId{target.a});
    if (target.b > 1)
      lines.insert(lines.begin(), fmt::format("{} events; the longest of them:", target.b));
    return lines;
  }
  if (target.kind == Target::Kind::Tip && target.a < panel_.tips.size())
    return lines_of(panel_.tips[target.a]);
  if (target.kind == Target::Kind::Chunks)
    return lines_of(chunks_.tip(document_, state_.now_ns, target));
  if (target.kind == Target::Kind::Fold || target.kind == Target::Kind::Row)
    return tip_of_row(target.a);
  if (target.kind == Target::Kind::Time) return {"click: move the current time there"};
  if (target.kind == Target::Kind::Connection)
    return {fmt::format("rank {} to rank {}, channel {}: click to see its slots", target.a,
                        target.b, target.c & 0xFFFF)};
  if (target.kind == Target::Kind::Rank)
    return {fmt::format("rank {}: click to see its lanes", target.a)};
  if (target.kind == Target::Kind::Place && document_->surround.ways != nullptr)
    return {document_->surround.ways->title_of(target.a)};
  return {};
}

std::vector<std::string> Session::tip_of_row(std::uint32_t number) const {
  const auto& rows = timeline_.rows().rows();
  if (number >= rows.size()) return {};
  const LaneRow& row = rows[number];
  std::vector<std::string> lines;
  if (row.rank < 0) {
    lines.push_back(row.label);
  } else {
    lines.push_back(row.label == fmt::format("rank {}", row.rank)
                        ? row.label
                        : fmt::format("rank {}: {}", row.rank, row.label));
  }
  for (const LaneId lane : row.lanes) {
    if (row.lanes.size() > 1) break;
    if (const ChannelStatistics* const sum = document_->replay->statistics(lane)) {
      lines.push_back(fmt::format("{}, {} sent, busy for {}",
                                  plural(sum->primitives, "primitive", "primitives"),
                                  format_bytes(sum->sent), format_time(Seconds{sum->busy})));
    }
  }
  if (row.lanes.size() > 1) lines.push_back(plural(row.lanes.size(), "lane", "lanes"));
  if (row.can_fold) lines.emplace_back(row.is_folded ? "click to unfold" : "click to fold");
  return lines;
}

std::string_view Session::caption() const {
  if (document_ == nullptr) return {};
  std::string_view words;
  for (const Caption& caption : document_->captions) {
    if (caption.from_ns <= state_.now_ns) words = caption.text;
  }
  return words;
}

}  // namespace ringside::gui

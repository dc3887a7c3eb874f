#include "gui/model/views/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "base/vocabulary.h"

namespace ringside::gui {
namespace {

constexpr float kFoldPx = 1.5F;          // narrower than this is folded
constexpr float kWaitPx = 8;             // wide enough to show which part was waiting
constexpr float kBucketPx = 3;           // width of a bucket in rows that show several lanes
constexpr double kMostLooks = 16'000;    // events or index nodes visited in a frame
constexpr std::size_t kMostLanes = 256;  // lanes that one folded row reads
constexpr std::size_t kMostArrows = 120;
constexpr std::size_t kMostFlows =
    4096;  // primitives of folded rows that are asked for their senders
constexpr int kMostTracks = 4;
constexpr float kLowestRow = 1.45F;  // lines
constexpr float kHighestRow = 6;     // few rows grow up to this height

/// Returns the colour of a fold of several primitives: that of the most significant one.
Ink ink_of_mask(std::uint32_t primitives) {
  constexpr std::array kOrder{Primitive::RecvReduceCopySend,
                              Primitive::RecvReduceSend,
                              Primitive::RecvReduceCopy,
                              Primitive::RecvCopySend,
                              Primitive::RecvSend,
                              Primitive::Recv,
                              Primitive::Send,
                              Primitive::CopySend};
  for (const Primitive one : kOrder) {
    if ((primitives >> static_cast<unsigned>(one) & 1U) != 0) return ink_of(one);
  }
  return Ink::Copy;
}

}  // namespace

/// One frame in progress.
class Timeline::Frame {
 public:
  Frame(Timeline& timeline, const Document& document, const State& state, const Canvas& canvas,
        Picture& into)
      : own_(timeline),
        document_(document),
        replay_(*document.replay),
        state_(state),
        canvas_(canvas),
        into_(into),
        axis_(timeline.axis_) {}

  void run() {
    time();
    const auto& rows = own_.rows_.rows();
    const auto first =
        static_cast<std::size_t>(std::max(std::floor(state_.scroll / own_.row_height_), 0.0F));
    count_in_sight(first);
    for (std::size_t i = first; i < rows.size(); ++i) {
      const float y = y_of(static_cast<int>(i));
      if (y >= canvas_.height) break;
      row(rows[i], static_cast<std::uint32_t>(i), y);
    }
    arrows();
    marks();
  }

 private:
  [[nodiscard]] float y_of(int row) const {
    return own_.top_ + static_cast<float>(row) * own_.row_height_ - state_.scroll;
  }
  [[nodiscard]] bool is_in_sight(float y) const {
    return y + own_.row_height_ > own_.top_ && y < canvas_.height;
  }
  [[nodiscard]] float clip_x(float x) const { return std::clamp(x, axis_.left, axis_.right); }
  [[nodiscard]] float clip_y(float y) const { return std::max(y, own_.top_); }

  void time() {
    float written = 0;  // where the last text ends
    for (const Tick& tick : ticks_of(axis_, 11 * canvas_.letter)) {
      const float x = axis_.x_of(tick.time_ns);
      into_.boxes.push_back(
          {x, canvas_.line * 1.2F, x + 1, canvas_.height, Ink::Line, Fill::Solid});
      // At the right edge its time is before its line, if there is room.
      const float width = canvas_.letter * static_cast<float>(tick.text.size());
      const bool fits = x + 3 + width <= canvas_.width;
      if (!fits && x - 3 - width < written + canvas_.letter) continue;
      written = x + 3 + width;
      into_.words.push_back({.x = fits ? x + 3 : x - 3,
                             .y = 2,
                             .align = fits ? Words::Align::Left : Words::Align::Right,
                             .ink = Ink::Faint,
                             .text = tick.text});
    }
    into_.spots.push_back({axis_.left, 0, axis_.right, own_.top_, {Target::Kind::Time, 0, 0, 0}});
  }

  void row(const LaneRow& row, std::uint32_t number, float y) {
    const float y1 = y + own_.row_height_ - 2;
    if (!is_in_sight(y)) return;
    label(row, number, y, y1);
    if (row.lanes.empty()) return;
    into_.spots.push_back({axis_.left,
                           clip_y(y),
                           axis_.right,
                           std::max(y1, own_.top_),
                           {Target::Kind::Row, number, 0, 0}});
    if (row.compute) {
      const float split = y + (y1 - y) * 0.68F;
      lane(row.lanes.front(), clip_y(y), std::max(split - 1, own_.top_));
      lane(*row.compute, clip_y(split), std::max(y1, own_.top_));
    } else if (row.lanes.size() == 1) {
      lane(row.lanes.front(), clip_y(y), std::max(y1, own_.top_));
    } else {
      several(row, clip_y(y), std::max(y1, own_.top_));
    }
  }

  [[nodiscard]] bool is_culprit(std::int32_t rank) const {
    return rank >= 0 && std::ranges::any_of(document_.findings, [&](const Finding& finding) {
             return finding.weight == Finding::Weight::Fault &&
                    std::ranges::find(finding.ranks, rank) != finding.ranks.end();
           });
  }

  void label(const LaneRow& row, std::uint32_t number, float y, float y1) {
    if (y < own_.top_) return;
    const float x = 4 + static_cast<float>(row.depth) * canvas_.letter * 1.6F;
    const bool is_bad = is_culprit(row.rank);
    const Ink ink = is_bad || row.depth == 0 ? Ink::Text : Ink::Faint;
    if (is_bad) {
      into_.boxes.push_back({0, y, axis_.left - 6, y1, Ink::Bad, Fill::Soft});
    }
    const std::string_view mark = !row.can_fold ? "" : row.is_folded ? "+ " : "- ";
    into_.words.push_back({.x = x,
                           .y = y + (own_.row_height_ - 2 - canvas_.line) / 2,
                           .width = axis_.left - x - 8,
                           .ink = ink,
                           .text = fmt::format("{}{}", mark, row.label)});
    into_.spots.push_back({0,
                           y,
                           axis_.left - 6,
                           y1,
                           {row.can_fold ? Target::Kind::Fold : Target::Kind::Row, number, 0, 0}});
  }

  void background(float y, float y1) {
    into_.boxes.push_back({axis_.left, y, axis_.right, y1, Ink::Panel, Fill::Solid});
  }

  void look_at(LaneId id) {
    const LaneKey& key = replay_.lanes()[static_cast<std::size_t>(id)];
    is_calls_ = key.channel == LaneKey::kCalls;
    is_compute_ = key.channel == kComputeChannel;
    call_ink_ = ink_of_group(document_, key.communicator);
  }

  /// Events of one lane; where it has several strands, below each other.
  void lane(LaneId id, float y, float y1) {
    background(y, y1);
    own_.folds_.clear();
    const Nanoseconds resolution = resolution_of(id, kFoldPx);
    replay_.fold(id, axis_.visible, resolution, own_.folds_);
    look_at(id);
    const int tracks = tracks_of(id);
    std::array<std::int64_t, kMostTracks> ends{};
    ends.fill(INT64_MIN);
    const float height = (y1 - y) / static_cast<float>(tracks);
    for (std::size_t i = 0; i < own_.folds_.size(); ++i) {
      const Fold& fold = own_.folds_[i];
      int track = 0;
      while (track + 1 < tracks && ends[static_cast<std::size_t>(track)] > fold.time.begin_ns)
        ++track;
      ends[static_cast<std::size_t>(track)] =
          std::max(ends[static_cast<std::size_t>(track)], fold.time.end_ns);
      const float top = y + static_cast<float>(track) * height;
      const bool is_covered = is_calls_ && i + 1 < own_.folds_.size();
      const std::int64_t until =
          is_covered ? own_.folds_[i + 1].time.begin_ns : axis_.visible.end_ns;
      this->fold(fold, until, top, tracks > 1 ? top + height - 0.5F : y1);
    }
  }

  /// Returns the number of a lane's events that are visible, if they were spread evenly.
  [[nodiscard]] double events_in_sight(LaneId id) const {
    const TimeRange span = replay_.span(id);
    const std::int64_t from = std::max(span.begin_ns, axis_.visible.begin_ns);
    const std::int64_t to = std::min(span.end_ns, axis_.visible.end_ns);
    if (from >= to) return 0;
    return static_cast<double>(replay_.events(id).size()) * static_cast<double>(to - from) /
           static_cast<double>(span.end_ns - span.begin_ns);
  }

  /// Returns the time of so many pixels. With more events visible than a frame has time for, folds of so many events
  /// that the index has ready.
  [[nodiscard]] Nanoseconds resolution_of(LaneId id, float px) const {
    double ns = axis_.ns_per_px() * static_cast<double>(px);
    double each = 1;
    for (double looks = in_sight_; looks > kMostLooks;) {
      constexpr auto kLeaf = static_cast<double>(IntervalIndex::kLeaf);
      constexpr auto kFanOut = static_cast<double>(IntervalIndex::kFanOut);
      const double below = each == 1 ? kLeaf : kFanOut;
      each *= below;
      looks /= below;
    }
    if (each > 1) {
      const TimeRange span = replay_.span(id);
      const double spacing =
          static_cast<double>(span.end_ns - span.begin_ns) /
          static_cast<double>(std::max<std::size_t>(replay_.events(id).size(), 1));
      constexpr double kUneven = 1.3;  // events are not spread evenly
      ns = std::max(ns, kUneven * each * spacing);
    }
    return Nanoseconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(ns))};
  }

  void count_in_sight(std::size_t first) {
    const auto& rows = own_.rows_.rows();
    in_sight_ = 0;
    for (std::size_t i = first; i < rows.size() && y_of(static_cast<int>(i)) < canvas_.height;
         ++i) {
      const std::size_t stride = (rows[i].lanes.size() + kMostLanes - 1) / kMostLanes;
      for (std::size_t k = 0; k < rows[i].lanes.size(); k += stride)
        in_sight_ += events_in_sight(rows[i].lanes[k]);
    }
  }

  /// Returns the mean number of simultaneous primitives.
  [[nodiscard]] int tracks_of(LaneId id) const {
    const ChannelStatistics* const statistics = replay_.statistics(id);
    const TimeRange span = replay_.span(id);
    if (statistics == nullptr || span.end_ns <= span.begin_ns) return 1;
    const double mean = static_cast<double>(statistics->in_primitives.count()) /
                        static_cast<double>(span.end_ns - span.begin_ns);
    return std::clamp(static_cast<int>(std::ceil(mean - 0.01)), 1, kMostTracks);
  }

  /// until  where the lane's next event covers it: calls that never ended overlap
  void fold(const Fold& fold, std::int64_t until, float y, float y1) {
    const float x = clip_x(axis_.x_of(fold.time.begin_ns));
    const float x1 = clip_x(std::max(axis_.x_of(fold.time.end_ns), x + 1));
    const Target target{Target::Kind::Event, to_int(fold.longest), fold.count, 0};
    if (fold.count > 1 || x1 - x < kWaitPx) {
      const bool is_mixed = fold.count > 1 && std::popcount(fold.primitives) > 1;
      // The height shows how busy the lane was: idle time between short events is visible from afar.
      constexpr float kLowest = 0.15F;
      const auto length =
          static_cast<float>(std::max<std::int64_t>(fold.time.end_ns - fold.time.begin_ns, 1));
      const float busy = std::clamp(static_cast<float>(fold.busy.count()) / length, kLowest, 1.0F);
      const float top = fold.count > 1 ? y1 - (y1 - y) * busy : y;
      const Ink ink = is_calls_     ? call_ink_
                      : is_compute_ ? Ink::Compute
                                    : ink_of_mask(fold.primitives);
      into_.boxes.push_back({x, top, x1, y1, ink, is_mixed ? Fill::Soft : Fill::Solid});
      if (fold.count == 1) own_.shown_.push_back(fold.longest);
      if (x1 - x >= 2) into_.spots.push_back({x, y, x1, y1, target});
      return;
    }
    own_.shown_.push_back(fold.longest);
    single(fold.longest, x, x1, clip_x(axis_.x_of(until)), y, y1);
    into_.spots.push_back({x, y, x1, y1, target});
  }

  void single(EventId id, float x, float x1, float covered, float y, float y1) {
    const TraceEvent event = replay_.event(id);
    const bool is_call = event.kind == EventKind::Collective;
    const Nanoseconds waited = waiting_of(document_, id, event, own_.partners_);
    const float from = clip_x(axis_.x_of(event.begin_ns + waited.count()));
    const float edge = x1 - x > 3 ? x1 - 1 : x1;  // so that neighbours do not run together
    if (from > x + 1)
      into_.boxes.push_back({x, y, std::min(from, edge), y1, Ink::Waiting, Fill::Hatched});
    if (from < edge) {
      into_.boxes.push_back({std::max(x, from), y, edge, y1,
                             is_call                            ? call_ink_
                             : event.kind == EventKind::Compute ? Ink::Compute
                                                                : ink_of(event.primitive),
                             Fill::Solid});
    }
    if (id == state_.event) {
      into_.boxes.push_back({x - 1, y - 1, x1 + 1, y1 + 1, Ink::Chosen, Fill::Outline});
    }
    x1 = std::min(x1, covered);
    if (y1 - y < canvas_.line * 0.9F || x1 - x < 5 * canvas_.letter) return;
    into_.words.push_back({.x = x + 3,
                           .y = y + (y1 - y - canvas_.line) / 2,
                           .width = x1 - x - 6,
                           .ink = Ink::Text,
                           .text = text_of(event, x1 - x)});
  }

  [[nodiscard]] std::string text_of(const TraceEvent& event, float width) const {
    if (event.kind == EventKind::Collective) {
      const std::string size = event.bytes > 0 ? " " + size_of_call({event.bytes}) : "";
      std::string text =
          fmt::format("{}{}  #{}", to_string(event.collective), size, event.sequence);
      if (replay_.statistics().primitives > 0 || event.step == kChoiceIsKnown) {
        text += fmt::format("  {}/{}", to_string(event.algorithm), to_string(event.protocol));
      }
      return text;
    }
    if (event.kind == EventKind::Compute) return "compute";
    if (width < 16 * canvas_.letter) return short_name(event.primitive);
    std::string text = to_string(event.primitive);
    if (event.recv_peer >= 0) text += fmt::format(" from {}", event.recv_peer);
    if (event.send_peer >= 0) text += fmt::format(" to {}", event.send_peer);
    return text +
           fmt::format(", {} at {}", format_bytes({event.bytes}), format_bytes({event.offset}));
  }

  /// Many lanes as one: their utilisation, and by which primitives.
  void several(const LaneRow& row, float y, float y1) {
    background(y, y1);
    const std::size_t stride = (row.lanes.size() + kMostLanes - 1) / kMostLanes;
    const std::size_t asked = (row.lanes.size() + stride - 1) / stride;
    const auto buckets = static_cast<std::size_t>((axis_.right - axis_.left) / kBucketPx) + 1;
    own_.shares_.assign(buckets, {});
    for (std::size_t i = 0; i < row.lanes.size(); i += stride) {
      own_.folds_.clear();
      replay_.fold(row.lanes[i], axis_.visible, resolution_of(row.lanes[i], kBucketPx),
                   own_.folds_);
      for (const Fold& fold : own_.folds_) add(fold, 1.0F / static_cast<float>(asked));
      flows(row.lanes[i]);
    }
    look_at(row.lanes.front());
    for (std::size_t i = 0; i < buckets; ++i) {
      const Share& share = own_.shares_[i];
      if (share.busy <= 0) continue;
      const float x = axis_.left + static_cast<float>(i) * kBucketPx;
      const float height = std::max(1.5F, (y1 - y) * std::min(share.busy, 1.0F));
      into_.boxes.push_back({x, y1 - height, std::min(x + kBucketPx, axis_.right), y1,
                             is_calls_     ? call_ink_
                             : is_compute_ ? Ink::Compute
                                           : ink_of_mask(share.primitives),
                             std::popcount(share.primitives) > 1 ? Fill::Soft : Fill::Solid});
    }
    if (stride > 1) {
      into_.words.push_back({.x = axis_.right - 4,
                             .y = y,
                             .align = Words::Align::Right,
                             .ink = Ink::Faint,
                             .text = fmt::format("{} of {} lanes", asked, row.lanes.size())});
    }
  }

  /// Collects the receives of a folded lane that are in progress at the current time.
  void flows(LaneId id) {
    if (own_.flowing_.size() >= kMostFlows) return;
    own_.folds_.clear();
    replay_.fold(id, {state_.now_ns, state_.now_ns + 1}, Nanoseconds{1}, own_.folds_);
    for (const Fold& fold : own_.folds_) own_.flowing_.push_back(fold.longest);
  }

  void add(const Fold& fold, float weight) {
    const float x = (clip_x(axis_.x_of(fold.time.begin_ns)) - axis_.left) / kBucketPx;
    const float x1 = (clip_x(axis_.x_of(fold.time.end_ns)) - axis_.left) / kBucketPx;
    const auto length =
        static_cast<float>(std::max<std::int64_t>(fold.time.end_ns - fold.time.begin_ns, 1));
    const float density = std::min(1.0F, static_cast<float>(fold.busy.count()) / length);
    const std::size_t last = std::min(static_cast<std::size_t>(x1), own_.shares_.size() - 1);
    for (auto i = static_cast<std::size_t>(x); i <= last; ++i) {
      const float part =
          std::min(x1, static_cast<float>(i + 1)) - std::max(x, static_cast<float>(i));
      own_.shares_[i].busy += weight * density * std::max(part, 0.05F);
      own_.shares_[i].primitives |= fold.primitives;
    }
  }

  // ---- arrows --------------------------------------------------------------------------------

  /// Returns the row of an event's lane; -1: it is not shown.
  [[nodiscard]] int row_of(const TraceEvent& event) const {
    const auto lane = replay_.find({event.communicator, event.rank, event.channel});
    return lane ? own_.rows_.row_of(*lane) : -1;
  }

  [[nodiscard]] float middle_of(const TraceEvent& event) const {
    const int row = row_of(event);
    if (row < 0) return -1;
    const float y = y_of(row) + own_.row_height_ / 2 - 1;
    return y > own_.top_ && y < canvas_.height ? y : -1;
  }

  void arrow(const TraceEvent& sent, const TraceEvent& received, Ink ink) {
    const float from = middle_of(sent);
    const float to = middle_of(received);
    if (from < 0 || to < 0) return;
    float x0 = axis_.x_of(sent.end_ns);
    float x1 = axis_.x_of(received.end_ns);
    float y0 = from;
    float y1 = to;
    if (x1 < axis_.left || x0 > axis_.right) return;
    // Clipped at the edges of the lanes.
    if (x0 < axis_.left && x1 > x0) {
      y0 += (y1 - y0) * (axis_.left - x0) / (x1 - x0);
      x0 = axis_.left;
    }
    if (x1 > axis_.right && x1 > x0) {
      y1 = y0 + (y1 - y0) * (axis_.right - x0) / (x1 - x0);
      x1 = axis_.right;
    }
    into_.strokes.push_back({x0, y0, x1, y1, ink == Ink::Chosen ? 2.0F : 1.0F, ink, true});
  }

  /// Between folded rows, one arrow for all chunks from one row to another at the current time. If most rows send to most
  /// others, as through a switch, no line can be followed by eye, and none is drawn.
  void flow_arrows() {
    std::map<std::pair<int, int>, std::pair<TraceEvent, TraceEvent>> flows;
    std::set<int> receivers;
    for (const EventId id : own_.flowing_) {
      const TraceEvent event = replay_.event(id);
      if (event.kind != EventKind::Primitive || event.recv_peer < 0) continue;
      own_.partners_.clear();
      replay_.senders_of(id, own_.partners_);
      for (const EventId sender : own_.partners_) {
        const TraceEvent sent = replay_.event(sender);
        const std::pair ends(row_of(sent), row_of(event));
        if (ends.first < 0 || ends.first == ends.second) continue;
        flows.try_emplace(ends, sent, event);
        receivers.insert(ends.second);
      }
    }
    if (flows.size() > std::min(kMostArrows, 3 * receivers.size())) return;
    for (const auto& [ends, events] : flows) arrow(events.first, events.second, Ink::Now);
  }

  void arrows() {
    if (own_.shown_.size() <= kMostArrows) {
      for (const EventId id : own_.shown_) {
        if (id == state_.event) continue;
        const TraceEvent event = replay_.event(id);
        if (event.kind != EventKind::Primitive || event.recv_peer < 0) continue;
        own_.partners_.clear();
        replay_.senders_of(id, own_.partners_);
        for (const EventId sender : own_.partners_) {
          if (sender != state_.event) arrow(replay_.event(sender), event, Ink::Faint);
        }
      }
    }
    flow_arrows();
    if (state_.event == kNoEvent) return;
    const TraceEvent chosen = replay_.event(state_.event);
    if (chosen.kind == EventKind::Collective) return;
    own_.partners_.clear();
    replay_.senders_of(state_.event, own_.partners_);
    for (const EventId sender : own_.partners_) arrow(replay_.event(sender), chosen, Ink::Chosen);
    own_.partners_.clear();
    replay_.receivers_of(state_.event, own_.partners_);
    for (const EventId receiver : own_.partners_)
      arrow(chosen, replay_.event(receiver), Ink::Chosen);
  }

  // ---- marks ---------------------------------------------------------------------------------

  void mark(std::int64_t time_ns, Ink ink, float width) {
    const float x = axis_.x_of(time_ns);
    if (x < axis_.left || x > axis_.right) return;
    into_.strokes.push_back({x, 0, x, canvas_.height, width, ink, false});
  }

  void marks() {
    for (const std::int64_t bookmark : state_.bookmarks) {
      const float x = axis_.x_of(bookmark);
      if (x < axis_.left || x > axis_.right) continue;
      mark(bookmark, Ink::Chosen, 1);
      into_.discs.push_back({x, own_.top_ - 4, 4, Ink::Chosen, Fill::Solid});
    }
    if (state_.ruler) ruler(*state_.ruler);
    mark(state_.now_ns, Ink::Now, 2);
  }

  void ruler(TimeRange range) {
    const float x = clip_x(axis_.x_of(range.begin_ns));
    const float x1 = clip_x(axis_.x_of(range.end_ns));
    if (x1 <= axis_.left || x >= axis_.right) return;
    into_.boxes.push_back({x, canvas_.line * 1.2F, x1, own_.top_ - 2, Ink::Chosen, Fill::Soft});
    mark(range.begin_ns, Ink::Chosen, 1);
    mark(range.end_ns, Ink::Chosen, 1);
    const std::int64_t length = range.end_ns - range.begin_ns;
    into_.words.push_back({.x = std::clamp((x + x1) / 2, axis_.left + 40, axis_.right - 40),
                           .y = canvas_.line * 1.2F,
                           .align = Words::Align::Middle,
                           .text = exact_time(length, length)});
  }

  Timeline& own_;
  const Document& document_;
  const Replay& replay_;
  const State& state_;
  const Canvas& canvas_;
  Picture& into_;
  const TimeAxis& axis_;
  // The lane that is being drawn:
  bool is_calls_ = false;
  bool is_compute_ = false;
  Ink call_ink_ = Ink::Call;
  double in_sight_ = 0;  ///< events
};

void Timeline::prepare(const Document& document, const State& state, const Canvas& canvas,
                       Panel& into) {
  rows_.update(document, state);
  top_ = canvas.line * 2.4F;
  const auto rows = static_cast<float>(std::max<std::size_t>(rows_.rows().size(), 1));
  row_height_ = std::clamp((canvas.height - top_) / rows, canvas.line * kLowestRow,
                           canvas.line * kHighestRow);
  height_ = canvas.height;
  axis_ = {state.visible, std::min(canvas.letter * 20, canvas.width / 3), canvas.width,
           document.whole().begin_ns};
  shown_.clear();
  flowing_.clear();
  Frame(*this, document, state, canvas, into.picture).run();
}

float Timeline::most_scroll() const {
  const float all = static_cast<float>(rows_.rows().size()) * row_height_;
  return std::max(0.0F, all - (height_ - top_));
}

}  // namespace ringside::gui

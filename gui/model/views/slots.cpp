#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/text.h"
#include "base/vocabulary.h"
#include "gui/model/connection.h"

namespace ringside::gui {
namespace {

using Message = ConnectionHistory::Message;

/// Connections that are drawn in small, at most: each one costs a pass over the events of its sender.
constexpr std::size_t kMostOthers = 48;
constexpr float kMargin = 20;  ///< pixels between the slots and either side of the canvas

/// Returns the number of the message that uses a slot, in flight or being filled; nullopt: the slot is free.
std::optional<std::size_t> message_in(std::size_t slot, const ConnectionHistory::Moment& moment,
                                      std::size_t messages) {
  const std::size_t behind = moment.posted + (moment.is_sending ? 1 : 0);
  for (std::size_t i = moment.taken; i < std::min(behind, messages); ++i) {
    if (i % static_cast<std::size_t>(kSlots) == slot) return i;
  }
  return std::nullopt;
}

class SlotsFrame {
 public:
  SlotsFrame(const Document& document, const ConnectionKey& key, const ConnectionHistory& history,
             const State& state, const Canvas& canvas, Panel& into)
      : document_(document),
        key_(key),
        history_(history),
        moment_(history.at(state.now_ns)),
        state_(state),
        canvas_(canvas),
        panel_(into),
        into_(into.picture) {}

  /// others  connections that are drawn in small, of `all` connections
  void run(std::span<const Slots::Known> others, std::size_t all) {
    panel_.lines.push_back(fmt::format(
        "rank {} to rank {}, channel {}: {} messages, {} sent, {} taken", key_.sender,
        key_.receiver, key_.channel, history_.messages().size(), moment_.posted, moment_.taken));
    panel_.lines.push_back(waiting_end());
    draw_slots();
    const float y = draw_protocol();
    draw_small(others, all, y);
  }

 private:
  /// Returns the number of slots that are posted and not taken.
  [[nodiscard]] std::size_t filled_slots() const {
    return moment_.posted > moment_.taken ? moment_.posted - moment_.taken : 0;
  }

  /// Returns the line that names the end that waits, or what each end does.
  [[nodiscard]] std::string waiting_end() const {
    const bool is_full = filled_slots() >= static_cast<std::size_t>(kSlots);
    if (is_full && moment_.is_sending) {
      return fmt::format("rank {} waits: all {} slots are full until rank {} takes one",
                         key_.sender, kSlots, key_.receiver);
    }
    if (filled_slots() == 0 && moment_.is_receiving) {
      return fmt::format("rank {} waits: no slot is filled until rank {} posts one", key_.receiver,
                         key_.sender);
    }
    if (moment_.is_sending && moment_.is_receiving)
      return "no end waits: one end fills, the other takes";
    if (moment_.is_sending) return fmt::format("rank {} fills a slot", key_.sender);
    if (moment_.is_receiving) return fmt::format("rank {} takes from a slot", key_.receiver);
    if (moment_.taken == history_.messages().size()) return "all messages have been taken";
    if (filled_slots() > 0)
      return fmt::format("{} filled, and rank {} is in no receive", filled_slots(), key_.receiver);
    return fmt::format("rank {} is in no send, rank {} in no receive", key_.sender, key_.receiver);
  }

  void draw_slots() {
    const float width =
        std::min((canvas_.width - 2 * kMargin) / static_cast<float>(kSlots), canvas_.letter * 17);
    const float top = canvas_.line * 3.4F;
    const float bottom = top + canvas_.line * 5.4F;
    for (int slot = 0; slot < kSlots; ++slot) {
      const float x = kMargin + width * static_cast<float>(slot);
      draw_slot(static_cast<std::size_t>(slot), x, top, x + width - 6, bottom);
    }
    const auto x_of = [&](std::size_t number) {
      return kMargin +
             width * (static_cast<float>(number % static_cast<std::size_t>(kSlots)) + 0.5F) - 3;
    };
    draw_marker(x_of(moment_.posted), top - 4, -canvas_.line,
                fmt::format("tail {}: rank {} fills next", moment_.posted, key_.sender), Ink::Send);
    draw_marker(x_of(moment_.taken), bottom + 4, canvas_.line,
                fmt::format("head {}: rank {} takes next", moment_.taken, key_.receiver),
                Ink::Receive);
  }

  void draw_marker(float x, float y, float away, std::string text, Ink ink) {
    into_.strokes.push_back({x, y + away, x, y, 2, ink, true});
    const float y_text = away < 0 ? y + away - canvas_.line - 2 : y + away + 2;
    const auto half = static_cast<float>(text.size()) * canvas_.letter / 2;
    into_.words.push_back(
        {.x = std::clamp(x, half + 4, std::max(half + 4, canvas_.width - half - 4)),
         .y = y_text,
         .align = Words::Align::Middle,
         .text = std::move(text)});
  }

  void draw_slot(std::size_t slot, float x, float y, float x1, float y1) {
    into_.boxes.push_back({x, y, x1, y1, Ink::Panel, Fill::Solid});
    into_.boxes.push_back({x, y, x1, y1, Ink::Line, Fill::Outline});
    const auto say = [&](float row, std::string text, Ink ink) {
      into_.words.push_back({.x = (x + x1) / 2,
                             .y = y + 4 + row * canvas_.line,
                             .width = x1 - x - 4,
                             .align = Words::Align::Middle,
                             .ink = ink,
                             .text = std::move(text)});
    };
    say(0, fmt::format("slot {}", slot), Ink::Faint);
    const auto number = message_in(slot, moment_, history_.messages().size());
    if (!number) {
      into_.spots.push_back({x, y, x1, y1, panel_.add_tip(fmt::format("slot {} is free", slot))});
      return say(2, "free", Ink::Faint);
    }
    const Message* const message = &history_.messages()[*number];
    const bool is_posted = message->sending.end_ns <= state_.now_ns;
    const bool is_read = is_posted && message->taking.begin_ns <= state_.now_ns;
    const TimeRange time = is_read ? message->taking : message->sending;
    const auto length = static_cast<float>(std::max<std::int64_t>(time.end_ns - time.begin_ns, 1));
    const float part =
        std::clamp(static_cast<float>(state_.now_ns - time.begin_ns) / length, 0.0F, 1.0F);
    const float fill_top = y + canvas_.line * 1.2F;
    if (!is_posted) {
      into_.boxes.push_back(
          {x + 2, y1 - (y1 - fill_top) * part, x1 - 2, y1 - 2, Ink::Send, Fill::Hatched});
    } else {
      into_.boxes.push_back({x + 2, is_read ? fill_top + (y1 - fill_top) * part : fill_top, x1 - 2,
                             y1 - 2, is_read ? Ink::Receive : Ink::Send,
                             is_read ? Fill::Hatched : Fill::Soft});
    }
    const TraceEvent sent = document_.replay->event(message->send);
    say(1.6F, !is_posted ? "is filled" : is_read ? "is taken" : "full", Ink::Text);
    say(2.6F, size_of_call({sent.bytes}), Ink::Text);
    say(3.6F, fmt::format("at {}", format_bytes({sent.offset})), Ink::Faint);
    into_.spots.push_back({x, y, x1, y1, {Target::Kind::Event, to_int(message->send), 1, 0}});
  }

  // ---- a line of the protocol ----------------------------------------------------------------

  void draw_field(float x, float y, float width, Ink ink, Fill fill, const std::string& text) {
    into_.boxes.push_back({x, y, x + width - 1, y + canvas_.line * 1.4F, ink, fill});
    into_.words.push_back({.x = x + width / 2,
                           .y = y + canvas_.line * 0.2F,
                           .width = width - 2,
                           .align = Words::Align::Middle,
                           .text = text});
  }

  /// Returns the lower edge.
  float draw_protocol() {
    float y = canvas_.line * 12;
    const CallFacts* const call = document_.call_at(state_.now_ns);
    if (call == nullptr) return y;
    const float width = canvas_.width - 2 * kMargin;
    const auto say = [&](std::string text) {
      into_.words.push_back(
          {.x = kMargin, .y = y, .width = width, .ink = Ink::Faint, .text = std::move(text)});
      y += canvas_.line * 1.3F;
    };
    const std::size_t flag = moment_.posted + 1;
    switch (call->protocol) {
      case Protocol::LL: {
        say("LL: 8 bytes are stored at once, 4 of data and 4 of flag, so half the bytes on the "
            "wire are flags. Only a sender without a free slot reads a counter: head.");
        const float each = width / 8;
        for (int i = 0; i < 4; ++i) {
          draw_field(kMargin + each * static_cast<float>(2 * i), y, each, Ink::Send, Fill::Soft,
                     "4 B data");
          draw_field(kMargin + each * static_cast<float>(2 * i + 1), y, each, Ink::Chosen,
                     Fill::Soft, fmt::format("flag {}", flag));
        }
        break;
      }
      case Protocol::LL128:
        say("LL128: a line of 128 bytes is stored at once, 120 of data and 8 of flag: a sixteenth "
            "of the wire.");
        for (int i = 0; i < 15; ++i) {
          draw_field(kMargin + width / 16 * static_cast<float>(i), y, width / 16, Ink::Send,
                     Fill::Soft, "8 B");
        }
        draw_field(kMargin + width / 16 * 15, y, width / 16, Ink::Chosen, Fill::Soft,
                   fmt::format("flag {}", flag));
        break;
      case Protocol::Simple:
        say("Simple: the data first, then a counter each way: two messages one after the other, "
            "and no byte of a slot is a flag.");
        draw_field(kMargin, y, width / 2, Ink::Send, Fill::Soft,
                   fmt::format("tail, written by the sender: {}", moment_.posted));
        draw_field(kMargin + width / 2, y, width / 2, Ink::Receive, Fill::Soft,
                   fmt::format("head, written by the receiver: {}", moment_.taken));
        break;
    }
    y += canvas_.line * 2;
    say("Messages take slots one after the other, each one here; NCCL's chunks may take several.");
    return y;
  }

  // ---- other connections ---------------------------------------------------------------------

  /// Draws each connection as a row of eight slots, as many as there is room for.
  void draw_small(std::span<const Slots::Known> others, std::size_t all, float y) {
    const float narrowest = canvas_.letter * 26;
    const float lowest = canvas_.line * 2.7F;
    const float highest = canvas_.line * 6;
    const float room = canvas_.height - y - canvas_.line * 2;
    const float most_columns = std::max(std::floor((canvas_.width - kMargin) / narrowest), 1.0F);
    const float most_rows = std::max(std::floor(room / lowest), 0.0F);
    const std::size_t shown =
        std::min(others.size(), static_cast<std::size_t>(most_rows * most_columns));
    if (others.size() < 2 || shown == 0) return;
    // Few of them grow until the room is full.
    const auto count = static_cast<float>(shown);
    const auto columns = static_cast<std::size_t>(std::clamp(
        std::ceil(count / std::max(std::floor(room / highest), 1.0F)), 1.0F, most_columns));
    const float rows = std::ceil(count / static_cast<float>(columns));
    const float height = std::clamp(room / rows, lowest, highest);
    y += canvas_.line * 0.5F;
    into_.words.push_back(
        {.x = kMargin,
         .y = y,
         .text = fmt::format(
             "{} at the same time; click one to see it above{}",
             shown < all ? fmt::format("{} of {} connections", shown, all)
                         : fmt::format("{} connections", all),
             shown < all ? ", or a step in the timeline to see another connection" : "")});
    y += canvas_.line * 1.5F;
    const float each = (canvas_.width - kMargin) / static_cast<float>(columns);
    for (std::size_t i = 0; i < shown; ++i) {
      draw_small_connection(others[i], kMargin + each * static_cast<float>(i % columns),
                            y + height * static_cast<float>(i / columns), each - canvas_.letter * 2,
                            height - canvas_.line * 0.5F);
    }
  }

  void draw_small_connection(const Slots::Known& one, float x, float y, float width, float height) {
    const ConnectionHistory::Moment moment = one.history.at(state_.now_ns);
    const float top = y + canvas_.line * 1.1F;
    const float bottom = y + height;
    const float each = width / static_cast<float>(kSlots);
    int full = 0;
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(kSlots); ++slot) {
      const float left = x + each * static_cast<float>(slot);
      const float right = left + each - 2;
      into_.boxes.push_back({left, top, right, bottom, Ink::Panel, Fill::Solid});
      const auto number = message_in(slot, moment, one.history.messages().size());
      if (!number) continue;
      const Message& message = one.history.messages()[*number];
      const bool is_posted = message.sending.end_ns <= state_.now_ns;
      const bool is_read = is_posted && message.taking.begin_ns <= state_.now_ns;
      if (is_posted && !is_read) ++full;
      into_.boxes.push_back({left, top, right, bottom, is_read ? Ink::Receive : Ink::Send,
                             is_posted && !is_read ? Fill::Soft : Fill::Hatched});
    }
    into_.words.push_back({.x = x,
                           .y = y,
                           .width = width,
                           .ink = one.key == key_ ? Ink::Chosen : Ink::Faint,
                           .text = fmt::format("{} -> {}, channel {}: {} full", one.key.sender,
                                               one.key.receiver, one.key.channel, full)});
    if (one.key == key_)
      into_.boxes.push_back(
          {x - 3, top - 3, x + width + 1, bottom + 3, Ink::Chosen, Fill::Outline});
    into_.spots.push_back({x,
                           y,
                           x + width,
                           bottom,
                           {Target::Kind::Connection, static_cast<std::uint32_t>(one.key.sender),
                            static_cast<std::uint32_t>(one.key.receiver),
                            std::int64_t{one.key.communicator} << 16 | one.key.channel}});
  }

  const Document& document_;
  const ConnectionKey& key_;
  const ConnectionHistory& history_;
  const ConnectionHistory::Moment moment_;
  const State& state_;
  const Canvas& canvas_;
  Panel& panel_;
  Picture& into_;
};

}  // namespace

Slots::Shown Slots::shown_of(const Document& document, const Wanted& wanted) {
  Shown shown{.key = wanted, .history = {}};
  if (!wanted) {
    const std::vector<ConnectionKey> known = connections_of(document, 1);
    if (known.empty()) return shown;
    shown.key = known.front();
  }
  shown.history = ConnectionHistory::make(*document.replay, *shown.key);
  return shown;
}

Slots::Others Slots::others_of(const Document& document, const Whole&) {
  std::vector<ConnectionKey> keys = connections_of(document, SIZE_MAX);
  Others others{.known = {}, .all = keys.size()};
  keys.resize(std::min(keys.size(), kMostOthers));
  std::ranges::sort(keys);
  others.known.reserve(keys.size());
  for (const ConnectionKey& key : keys)
    others.known.push_back({key, ConnectionHistory::make(*document.replay, key)});
  return others;
}

void Slots::prepare(const std::shared_ptr<const Document>& document, const State& state,
                    const Canvas& canvas, Panel& into) {
  const Shown* const shown = shown_.of(document, state.connection);
  if (shown == nullptr) return into.show_preparing("slots");
  if (!shown->key) {
    into.lines.emplace_back("The trace has no message between two ranks, so no slot was used.");
    return;
  }
  const Others* const others = others_.of(document, {});
  into.is_being_prepared = others == nullptr;
  SlotsFrame(*document, *shown->key, shown->history, state, canvas, into)
      .run(others == nullptr ? std::span<const Known>() : std::span(others->known),
           others == nullptr ? 0 : others->all);
}

}  // namespace ringside::gui

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gui/model/kept.h"
#include "gui/model/state.h"

namespace ringside::gui {

/// The messages over one direction of one channel between two ranks: the nth use of its slots.
class ConnectionHistory {
 public:
  struct Message {
    EventId send = kNoEvent;
    EventId receive = kNoEvent;  ///< none: it was not received
    TimeRange sending;
    TimeRange taking;  ///< {INT64_MAX, INT64_MAX}: never
    std::uint64_t bytes = 0;
  };

  static ConnectionHistory make(const Replay& replay, const ConnectionKey& key);

  /// In the order in which they were sent.
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }

  struct Moment {
    std::size_t posted = 0;  ///< messages whose send had ended
    std::size_t taken = 0;   ///< messages whose receive had ended
    bool is_sending = false;
    bool is_receiving = false;
  };
  [[nodiscard]] Moment at(std::int64_t time_ns) const;

 private:
  std::vector<Message> messages_;
};

/// Connections that a call uses, the busiest first. most  no more than these
std::vector<ConnectionKey> connections_of(const Document& document, std::size_t most);

/// One connection's FIFO at the moment: 8 slots, head and tail, which side waits, and the protocol's line.
class Slots {
 public:
  explicit Slots(Making making) : shown_(making, shown_of) {}

  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  void forget() { shown_.forget(); }

 private:
  using Wanted = std::optional<ConnectionKey>;  ///< none: the busiest
  struct Shown {
    Wanted key;  ///< none: there is no connection
    ConnectionHistory history;
  };
  static Shown shown_of(const Document& document, const Wanted& wanted);
  Kept<Shown, Wanted> shown_;
};

}  // namespace ringside::gui

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gui/model/kept.h"
#include "gui/model/state.h"

namespace ringside::gui {

/// The messages over one direction of one channel between two ranks. Message n is the nth use of
/// the connection's slots.
class ConnectionHistory {
 public:
  struct Message {
    EventId send = kNoEvent;
    EventId receive = kNoEvent;  ///< none: not received
    TimeRange sending;
    TimeRange taking;  ///< time of the receive; {INT64_MAX, INT64_MAX}: not received
    std::uint64_t bytes = 0;
  };

  /// Collects the messages of a connection from the sender's events. Empty if the sender has none.
  static ConnectionHistory make(const Replay& replay, const ConnectionKey& key);

  /// Returns the messages in the order in which they were sent.
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }

  /// The state of the connection at one time.
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

/// Returns at most `most` connections of the document's calls, those with the most bytes first.
std::vector<ConnectionKey> connections_of(const Document& document, std::size_t most);

/// The view of slots: one connection's FIFO at the current time, with its 8 slots, head and tail,
/// and the side that waits; below it the slots of other connections, in small.
class Slots {
 public:
  explicit Slots(Making making) : shown_(making, shown_of), others_(making, others_of) {}

  /// Fills the panel. While a worker computes the history, the panel is marked as being prepared.
  void prepare(const std::shared_ptr<const Document>& document, const State& state,
               const Canvas& canvas, Panel& into);
  /// Drops the data of a document that is no longer shown.
  void forget() {
    shown_.forget();
    others_.forget();
  }

  /// A connection with its messages.
  struct Known {
    ConnectionKey key;
    ConnectionHistory history;
  };

 private:
  using Wanted = std::optional<ConnectionKey>;  ///< none: the busiest connection
  struct Shown {
    Wanted key;  ///< none: the document has no connection
    ConnectionHistory history;
  };
  /// Key of data that depends on the document alone.
  struct Whole {
    friend bool operator==(const Whole&, const Whole&) = default;
  };
  static Shown shown_of(const Document& document, const Wanted& wanted);
  /// Connections that are drawn in small.
  struct Others {
    std::vector<Known> known;
    std::size_t all = 0;  ///< number of connections of the document
  };
  static Others others_of(const Document& document, const Whole&);
  Kept<Shown, Wanted> shown_;
  Kept<Others, Whole> others_;
};

}  // namespace ringside::gui

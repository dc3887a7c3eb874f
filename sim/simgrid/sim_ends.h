#pragma once

#include <cstdint>

namespace ringside {

/// Identifies a chunk. It travels with the message, so that the receiver detects steps that do not
/// match: the simulation has no data that would show it.
struct SimMessage {
  std::int64_t piece = 0;
  int chunk = 0;
  friend bool operator==(const SimMessage&, const SimMessage&) = default;
};

/// The sending end of a port.
///
/// Threads  one actor; all actors share one thread
class SimSendEnd {
 public:
  virtual ~SimSendEnd() = default;

  /// Waits until `slots` slots are free, and takes them.
  virtual void acquire(int slots) = 0;

  /// Starts a message when the previous one has crossed its links, as in a FIFO: two at once would
  /// share the links and both arrive late.  bytes  on the wire
  virtual void post(const SimMessage& message, double bytes) = 0;

  /// Waits until the last message has crossed its links. Call it at the end of an actor: the end
  /// cancels pending sends.
  virtual void drain() = 0;
};

/// The receiving end of a port.
class SimRecvEnd {
 public:
  virtual ~SimRecvEnd() = default;

  /// Waits for the arrival of the next message, its latency included, and returns it.
  virtual SimMessage await() = 0;

  /// Releases the slots of that message.
  virtual void release(int slots) = 0;
};

}  // namespace ringside

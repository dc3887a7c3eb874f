#pragma once

#include <cstdint>

namespace ringside {

/// Which chunk a message is. It travels along, so that the receiver sees when an algorithm's steps do
/// not fit together: there is no data that would show it.
struct SimMessage {
  std::int64_t piece = 0;
  int chunk = 0;
  friend bool operator==(const SimMessage&, const SimMessage&) = default;
};

/// The sending end of a port.
///
/// Threads  of one actor; all actors share one thread
class SimSendEnd {
 public:
  virtual ~SimSendEnd() = default;

  /// Waits until so many slots are free, and takes them.
  virtual void acquire(int slots) = 0;

  /// Sets a message going, once the one before it has crossed its links: as in a FIFO; two at once would
  /// share the links and both come late.  bytes  on the wire
  virtual void post(const SimMessage& message, double bytes) = 0;

  /// Waits until the last message has crossed its links: an actor that ends cancels what it sends.
  virtual void drain() = 0;
};

/// The receiving end of a port.
class SimRecvEnd {
 public:
  virtual ~SimRecvEnd() = default;

  /// Waits until the next message is there, its latency over.
  virtual SimMessage await() = 0;

  /// Gives the slots of that message back.
  virtual void release(int slots) = 0;
};

}  // namespace ringside

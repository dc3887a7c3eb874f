#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/faults/fault.h"
#include "ringside/units.h"

namespace ringside {

/// The faults of the connections of one communicator.
struct LinkFaults {
  const FaultPlan* plan = nullptr;  ///< drawn; null: nothing goes wrong
  std::string on = {};              ///< the communicator's name
  std::vector<int> job_ranks = {};  ///< of its ranks; empty: the same

  /// The first fault that hits connections from the one rank to the other; null: none does.
  /// shape  ranks of the communicator
  [[nodiscard]] const Fault* find(int from, int to, int channel) const;
};

/// What becomes of the messages of one connection that a fault hits. The caller passes the
/// time, by any clock; nothing here waits.
///
/// Ordering   may_send(), then fate(), for each message
/// Threads    one at a time
class LinkState {
 public:
  explicit LinkState(const Fault& fault) : fault_(fault) {}

  enum class Fate : std::uint8_t {
    Delivered,
    Lost,    ///< the sender believes it sent
    Broken,  ///< the connection is: nothing passes any more
  };

  /// Whether the sender may send a message now. now  since any moment
  [[nodiscard]] bool may_send(Nanoseconds now);

  /// Of the message that is sent now. Does not change before sent().
  [[nodiscard]] Fate fate() const;

  /// It has been sent.
  void sent(Bytes size, Nanoseconds now);

 private:
  [[nodiscard]] bool is_on() const;

  Fault fault_;
  Bytes bytes_;
  std::uint64_t messages_ = 0;
  std::int64_t lost_ = 0;
  std::optional<Nanoseconds> began_;  ///< when a stall set in
  Nanoseconds next_{0};               ///< before which a slow link takes nothing
};

}  // namespace ringside

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/faults/fault.h"
#include "ringside/units.h"

namespace ringside {

/// The faults of the connections of one communicator.
struct LinkFaults {
  const FaultPlan* plan = nullptr;  ///< a plan whose random choices are drawn; null: no faults
  std::string on = {};              ///< the communicator's name
  std::vector<int> job_ranks = {};  ///< [rank of the communicator]: rank of the job; empty: equal

  /// Returns the first fault that affects connections from one rank to another; null: none. shape  ranks of the
  /// communicator
  [[nodiscard]] const Fault* find(int from, int to, int channel) const;
};

/// Decides what happens to the messages of a connection that has a fault. The caller passes the time of any clock; no
/// function waits.
///
/// Ordering   may_send(), then next_outcome(), for each message
/// Threads    one at a time
class LinkState {
 public:
  explicit LinkState(const Fault& fault) : fault_(fault) {}

  enum class Outcome : std::uint8_t {
    Delivered,
    Lost,    ///< the sender believes it sent
    Broken,  ///< the connection is broken: no further message passes
  };

  /// Returns whether the sender may send a message now. now  since any moment
  [[nodiscard]] bool may_send(Nanoseconds now);

  /// Returns what happens to the message that is sent now. Constant until sent() is called.
  [[nodiscard]] Outcome next_outcome() const;

  /// Records that the message was sent.
  void sent(Bytes size, Nanoseconds now);

 private:
  [[nodiscard]] bool is_on() const;

  Fault fault_;
  Bytes bytes_;
  std::uint64_t messages_ = 0;
  std::int64_t lost_ = 0;
  std::optional<Nanoseconds> began_;  ///< when a stall set in
  Nanoseconds next_{0};               ///< time before which a slow link accepts no message
};

}  // namespace ringside

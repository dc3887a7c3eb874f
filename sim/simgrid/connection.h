#pragma once

#include <deque>
#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "engine/collectives/peers.h"
#include "ringside/units.h"
#include "sim/link_loads.h"
#include "sim/simgrid/signal.h"
#include "sim/simgrid/sim_ends.h"

namespace ringside {

/// The common base of a connection and a group.
///
/// Ownership  its ends live as long as it does
class SimLane {
 public:
  virtual ~SimLane() = default;

  std::vector<int> links;      ///< links that its messages cross
  LineTimes* times = nullptr;  ///< null: times are not recorded
  std::size_t line = 0;        ///< number of its line in `times`
  Rank first_sender = kNoRank;
  double bytes = 0;            ///< bytes on the wire so far
  std::int64_t transfers = 0;  ///< SimGrid communications so far
  /// Returns the number of messages that were sent but not received; for a group, not by all
  /// receivers.
  [[nodiscard]] virtual std::size_t unreceived() const = 0;
};

/// One direction between two ranks on a channel. Each message is one SimGrid communication.
class SimConnection : public SimLane, public SimSendEnd, public SimRecvEnd {
 public:
  /// name        unique
  /// latency     time from a message's last byte on the links to its arrival
  /// efficiency  share of the links' rates that its messages achieve, 0 to 1
  SimConnection(const std::string& name, int slots, Seconds latency, double efficiency);

  /// Sets the receiving actor of the mailbox, so that a message can travel before the receiver asks
  /// for it.
  void set_receiver(const simgrid::s4u::ActorPtr& actor) { mailbox_->set_receiver(actor); }

  void acquire(int slots) override;
  void post(const SimMessage& message, double size) override;
  void drain() override;
  SimMessage await() override;
  void release(int slots) override;
  [[nodiscard]] std::size_t unreceived() const override { return messages_.size(); }

 private:
  struct OnItsWay {
    SimMessage message;
    simgrid::s4u::CommPtr comm;
    double begin;  ///< s, simulated
    double bytes;  ///< on the wire
  };

  simgrid::s4u::Mailbox* mailbox_;
  int free_slots_;
  Seconds latency_;
  double efficiency_;
  Signal room_;
  std::deque<OnItsWay> messages_;  ///< oldest first; only the last one may still be in transit
  simgrid::s4u::CommPtr last_;
};

/// Several ranks behind a device that reduces and multicasts. A message starts when all senders
/// have posted their parts, is one SimGrid communication over the links of all members, and ends
/// when all receivers have released it.
class SimGroup : public SimLane {
 public:
  /// name        unique
  /// latency     time from a message's last byte on the links to its arrival
  /// efficiency  share of the links' rates that its messages achieve, 0 to 1
  SimGroup(const std::string& name, int slots, Seconds latency, double efficiency,
           const SwitchGroup& members);

  [[nodiscard]] SimSendEnd& send_end(Rank rank);
  [[nodiscard]] SimRecvEnd& recv_end(Rank rank);

  /// Carries one message after the other and never returns. Its actor's host must have a route to
  /// itself: the group's.
  void run();

  [[nodiscard]] std::size_t unreceived() const override { return messages_.size(); }

 private:
  struct Message {
    SimMessage what;
    double size = 0;      ///< bytes
    int parts = 0;        ///< senders that have posted their part
    double arrival = -1;  ///< time of arrival; < 0: not known yet
    int taken = 0;
  };
  struct Sender : SimSendEnd {
    SimGroup* group = nullptr;
    int free_slots = 0;
    std::int64_t sent = 0;
    Signal room;
    void acquire(int slots) override;
    void post(const SimMessage& message, double size) override;
    void drain() override;
  };
  struct Receiver : SimRecvEnd {
    SimGroup* group = nullptr;
    std::int64_t received = 0;
    SimMessage await() override;
    void release(int slots) override;
  };

  Message& message(std::int64_t number) {
    return messages_[static_cast<std::size_t>(number - first_)];
  }
  void leave(int slots);

  simgrid::s4u::Mailbox* mailbox_;
  Seconds latency_;
  double efficiency_;
  std::vector<Rank> sender_ranks_, receiver_ranks_;
  std::vector<std::unique_ptr<Sender>> senders_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::deque<Message> messages_;
  std::int64_t first_ = 0;    ///< number of the first of `messages_`
  std::int64_t carried_ = 0;  ///< messages that have crossed the links
  Signal work_;               ///< wakes the group's actor when parts are posted
  Signal crossed_;            ///< wakes receivers and drains when a message has crossed
};

}  // namespace ringside

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

/// What a connection and a group have in common.
///
/// Ownership  its ends live as long as it does
class SimLane {
 public:
  virtual ~SimLane() = default;

  std::vector<int> links;      ///< that its messages cross
  LineTimes* times = nullptr;  ///< null: times are not recorded
  std::size_t line = 0;        ///< of the times
  Rank first_sender = kNoRank;
  double bytes = 0;            ///< on the wire, so far
  std::int64_t transfers = 0;  ///< SimGrid communications, so far
  /// Messages sent and not received; for a group, not by all.
  [[nodiscard]] virtual std::size_t unreceived() const = 0;
};

/// One direction between two ranks on a channel. A message is one SimGrid communication.
class SimConnection : public SimLane, public SimSendEnd, public SimRecvEnd {
 public:
  /// name     unique
  /// latency     from when a message's last byte has crossed the links until it is there
  /// efficiency  the share of the links' rates that its messages achieve, 0 to 1
  SimConnection(const std::string& name, int slots, Seconds latency, double efficiency);

  /// With a receiver of its own, a mailbox lets a message travel before the receiver asks for it.
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
    double begin;
    double bytes;
  };

  simgrid::s4u::Mailbox* mailbox_;
  int free_slots_;
  Seconds latency_;
  double efficiency_;
  Signal room_;
  std::deque<OnItsWay> messages_;  ///< oldest first: only the last may still be under way
  simgrid::s4u::CommPtr last_;
};

/// Several ranks behind a device that reduces and multicasts. A message starts once all senders have
/// brought their parts, is one SimGrid communication over the links of all members, and leaves once all
/// receivers have taken it.
class SimGroup : public SimLane {
 public:
  /// name        unique
  /// latency     as of a connection
  /// efficiency  the share of the links' rates that its messages achieve, 0 to 1
  SimGroup(const std::string& name, int slots, Seconds latency, double efficiency,
           const SwitchGroup& members);

  [[nodiscard]] SimSendEnd& send_end(Rank rank);
  [[nodiscard]] SimRecvEnd& recv_end(Rank rank);

  /// Carries message after message, for ever. Its actor's host has a route to itself: the group's.
  void run();

  [[nodiscard]] std::size_t unreceived() const override { return messages_.size(); }

 private:
  struct Message {
    SimMessage what;
    double size = 0;
    int parts = 0;        ///< senders that have brought theirs
    double arrival = -1;  ///< when it is there; < 0: not known yet
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
  std::int64_t carried_ = 0;  ///< messages that have crossed
  Signal work_;               ///< the group's actor waits for parts
  Signal crossed_;            ///< receivers and drains wait for messages
};

}  // namespace ringside

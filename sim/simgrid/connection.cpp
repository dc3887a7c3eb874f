#include "sim/simgrid/connection.h"

#include <algorithm>

#include "base/assert.h"

namespace ringside {
namespace {

namespace sg4 = simgrid::s4u;

// The payload of mailboxes: SimGrid requires an address, but never reads what it points to.
int nothing = 0;

// SimGrid counts whole bytes; the fraction is far below its own rounding.
std::uint64_t whole(double bytes) { return static_cast<std::uint64_t>(bytes + 0.5); }

void sleep_until(double time) {
  if (time > sg4::Engine::get_clock()) sg4::this_actor::sleep_until(time);
}

std::size_t place_of(const std::vector<Rank>& ranks, Rank rank) {
  const auto at = std::ranges::find(ranks, rank);
  RINGSIDE_ASSERT(at != ranks.end(), "rank {} is not in its group", to_int(rank));
  return static_cast<std::size_t>(at - ranks.begin());
}

}  // namespace

SimConnection::SimConnection(const std::string& name, int slots, Seconds latency, double efficiency)
    : mailbox_(sg4::Mailbox::by_name(name)),
      free_slots_(slots),
      latency_(latency),
      efficiency_(efficiency) {}

void SimConnection::acquire(int slots) {
  while (free_slots_ < slots) room_.wait();
  free_slots_ -= slots;
}

void SimConnection::post(const SimMessage& message, double size) {
  drain();
  const double on_wire = size / efficiency_;
  last_ = mailbox_->put_async(&nothing, whole(on_wire));
  messages_.push_back({message, last_, sg4::Engine::get_clock(), on_wire});
  bytes += on_wire;
  ++transfers;
}

void SimConnection::drain() {
  if (last_ != nullptr) last_->wait();
}

SimMessage SimConnection::await() {
  mailbox_->get<int>();
  // The latency is waited for here and not on the link. So the next message follows on the link without a gap, and a
  // message that arrived long ago is not delayed.
  const OnItsWay arrived = std::move(messages_.front());
  messages_.pop_front();
  const double crossed = arrived.comm->get_finish_time();
  RINGSIDE_ASSERT(crossed >= 0, "a message was received that SimGrid calls unfinished");
  if (times != nullptr) times->add(line, arrived.bytes, arrived.begin, crossed);
  sleep_until(crossed + latency_.count());
  return arrived.message;
}

void SimConnection::release(int slots) {
  free_slots_ += slots;
  room_.wake_all();
}

SimGroup::SimGroup(const std::string& name, int slots, Seconds latency, double efficiency,
                   const SwitchGroup& members)
    : mailbox_(sg4::Mailbox::by_name(name)),
      latency_(latency),
      efficiency_(efficiency),
      sender_ranks_(members.senders),
      receiver_ranks_(members.receivers) {
  for (std::size_t i = 0; i < sender_ranks_.size(); ++i) {
    Sender& sender = *senders_.emplace_back(std::make_unique<Sender>());
    sender.group = this;
    sender.free_slots = slots;
  }
  for (std::size_t i = 0; i < receiver_ranks_.size(); ++i) {
    receivers_.emplace_back(std::make_unique<Receiver>())->group = this;
  }
}

SimSendEnd& SimGroup::send_end(Rank rank) { return *senders_[place_of(sender_ranks_, rank)]; }
SimRecvEnd& SimGroup::recv_end(Rank rank) { return *receivers_[place_of(receiver_ranks_, rank)]; }

void SimGroup::run() {
  mailbox_->set_receiver(sg4::Actor::self());
  const auto all = static_cast<int>(senders_.size());
  for (;;) {
    while (carried_ == first_ + static_cast<std::int64_t>(messages_.size()) ||
           message(carried_).parts < all) {
      work_.wait();
    }
    const double size = message(carried_).size / efficiency_;
    const double begin = sg4::Engine::get_clock();
    const sg4::CommPtr comm = mailbox_->put_async(&nothing, whole(size));
    mailbox_->get<int>();
    if (times != nullptr) times->add(line, size, begin, sg4::Engine::get_clock());
    message(carried_).arrival = sg4::Engine::get_clock() + latency_.count();
    bytes += size;
    ++transfers;
    ++carried_;
    crossed_.wake_all();
  }
}

void SimGroup::leave(int slots) {
  // Messages are received in order, so the first one is complete before the next.
  while (!messages_.empty() && messages_.front().taken == static_cast<int>(receivers_.size())) {
    messages_.pop_front();
    ++first_;
    for (const auto& sender : senders_) {
      sender->free_slots += slots;
      sender->room.wake_all();
    }
  }
}

void SimGroup::Sender::acquire(int slots) {
  while (free_slots < slots) room.wait();
  free_slots -= slots;
}

void SimGroup::Sender::post(const SimMessage& message, double size) {
  const std::int64_t number = sent++;
  if (number == group->first_ + static_cast<std::int64_t>(group->messages_.size())) {
    group->messages_.push_back({.what = message, .size = size});
  }
  Message& own = group->message(number);
  // Parts of different messages: the receiver, which expects one of them, reports the error.
  if (own.what != message) own.what = {-1, -1};
  if (++own.parts == static_cast<int>(group->senders_.size())) group->work_.wake_all();
}

void SimGroup::Sender::drain() {
  while (group->carried_ < sent) group->crossed_.wait();
}

SimMessage SimGroup::Receiver::await() {
  while (group->carried_ <= received) group->crossed_.wait();
  const Message arrived = group->message(received);
  sleep_until(arrived.arrival);
  return arrived.what;
}

void SimGroup::Receiver::release(int slots) {
  ++group->message(received++).taken;
  group->leave(slots);
}

}  // namespace ringside

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "python/src/meeting.h"
#include "python/src/rank_names.h"
#include "python/src/unreceived_report.h"
#include "python/src/work.h"

namespace ringside::pytorch {

/// What the messages of a group have in common.
struct MessageGroup {
  StorePtr store;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds limit{0};
  std::shared_ptr<const RankNames> names;
  CommunicatorConfig config;                   ///< of the group
  std::shared_ptr<Communicator> communicator;  ///< whose flight record has the messages
};

/// A send or recv that was called.
struct Message {
  c10::intrusive_ptr<CallWork> work;
  at::Tensor tensor;  ///< contiguous
  MessageRecord record;
  const CallSite* site = nullptr;  ///< as CallOptions
};

/// The messages of one tag from one rank to another, in their order: a communicator of the two ranks, which is made
/// when both have a message, and a thread. So no message waits for one of another direction, as with gloo.
///
/// Threads    any
/// Ownership  the destructor calls abort(), and waits for the thread
class MessageLane {
 public:
  MessageLane(const MessageGroup& group, int peer, int tag, bool is_send);
  ~MessageLane();
  MessageLane(const MessageLane&) = delete;
  MessageLane& operator=(const MessageLane&) = delete;

  /// Adds a message; its work is done once it was carried out, or failed.
  void push(Message message);
  /// Makes the messages under way and all later ones fail.
  void abort();
  /// Breaks the pair on both ranks, also for messages that the other one has yet to take.
  void break_off(const Error& why);

 private:
  void serve();
  Status carry_out(const Message& message);
  Status connect();
  /// Returns the error of a message whose other half was not made in time.
  [[nodiscard]] Error waited_in_vain() const;
  /// errors  what ends the wait for the peer: an end of the group, or the peer's
  [[nodiscard]] Status look_at_peer() const;
  /// Returns the reason of a failed message with the ranks of the group, where the group knows it: the pair calls its
  /// ranks 0 and 1.
  [[nodiscard]] Status as_group_sees(const Status& failed) const;
  [[nodiscard]] std::string words() const;

  const MessageGroup group_;
  const int peer_;
  const int tag_;
  const bool is_send_;
  const std::shared_ptr<UnreceivedReport> report_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable pushed_;
  std::deque<Message> queue_;
  bool is_carrying_ = false;  ///< a message is under way on the pair
  std::optional<Communicator> pair_;
  std::thread thread_;
};

/// The sends and receives of a group. Each message's work is done by a lane's thread, in the order of the calls with one
/// peer, tag and direction.
///
/// Threads    any
/// Ownership  the destructor makes the messages under way fail
class Messages {
 public:
  explicit Messages(MessageGroup group) : group_(std::move(group)) {}
  ~Messages();

  void send(int peer, int tag, Message message);
  void recv(int peer, int tag, Message message);
  /// Receives from the rank that sends first. Senders announce their messages in the store for it.
  void recv_any(int tag, Message message);
  /// As MessageLane::abort(), for all lanes and for receives from any rank.
  void abort();
  /// As MessageLane::break_off(), for all lanes. The messages that are left are then not reported: `why` explains them.
  void break_off(const Error& why);

 private:
  struct AnyRecv {
    int tag = 0;
    Message message;
    std::chrono::steady_clock::time_point end;
  };
  /// Returns the lane, and makes it if there is none. shape  mutex_ is held
  MessageLane& lane(int peer, int tag, bool is_send);
  void look_for_senders();
  /// errors  the group is broken; every other rank has left it; the store failed
  Result<std::optional<int>> find_sender(int tag);

  const MessageGroup group_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_;  ///< guards what follows
  std::map<std::tuple<int, int, bool>, std::unique_ptr<MessageLane>> lanes_;
  std::map<std::pair<int, int>, std::int64_t>
      claimed_;  ///< messages of a rank and tag that have a recv
  std::deque<AnyRecv> any_;
  std::condition_variable any_pushed_;
  std::thread any_thread_;
};

/// Returns the key of the store that counts the messages that a rank has begun to send to another.
std::string announcement(int from, int to, int tag);

}  // namespace ringside::pytorch

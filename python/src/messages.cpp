#include "python/src/messages.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "python/src/dtypes.h"

namespace ringside::pytorch {
namespace {

Error in_words(const Error& error, const std::string& words) {
  return {error.code, words + ": " + error.message, error.help};
}

/// Returns the group's name as verdicts have it.
std::string shown_name(const CommunicatorConfig& group) {
  return group.description == "default_pg" ? group.description : group.name;
}

}  // namespace

std::string announcement(int from, int to, int tag) {
  return "messages/" + std::to_string(from) + ">" + std::to_string(to) + "/" + std::to_string(tag);
}

MessageLane::MessageLane(const MessageGroup& group, int peer, int tag, bool is_send)
    : group_(group),
      peer_(peer),
      tag_(tag),
      is_send_(is_send),
      report_(std::make_shared<UnreceivedReport>(
          UnreceivedReport::Lane{.names = group.names,
                                 .group = shown_name(group.config),
                                 .from = is_send ? group.rank : peer,
                                 .to = is_send ? peer : group.rank,
                                 .tag = tag,
                                 .is_sender = is_send})),
      thread_([this] { serve(); }) {}

MessageLane::~MessageLane() {
  abort();
  thread_.join();
}

void MessageLane::push(Message message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back(std::move(message));
  pushed_.notify_all();
}

void MessageLane::abort() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_over_ = true;
  if (pair_ && is_carrying_) pair_->abort({ErrorCode::Aborted, "the process group was aborted"});
  pushed_.notify_all();
}

void MessageLane::break_off(const Error& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pair_) pair_->abort(why);
}

std::string MessageLane::words() const {
  std::string text = is_send_ ? "send to rank " : "recv from rank ";
  text += std::to_string(peer_);
  if (tag_ != 0) text += " with tag " + std::to_string(tag_);
  return text;
}

Status MessageLane::look_at_peer() const {
  if (is_over_) return Error{ErrorCode::Aborted, "the process group was aborted"};
  const Status group = group_.communicator->status();
  if (!group) return group;
  const Result<bool> is_gone = has_left(*group_.store, peer_);
  if (!is_gone) return is_gone.error();
  if (!*is_gone) return {};
  return Error{ErrorCode::InvalidArgument,
               "rank " + std::to_string(peer_) + " has left the communicator without this message",
               "have every rank make its calls before it ends"};
}

Error MessageLane::waited_in_vain() const {
  return {ErrorCode::Timeout,
          "rank " + std::to_string(group_.rank) + " waited " + seconds(group_.limit) + " for a " +
              (is_send_ ? "recv" : "send") + " of rank " + std::to_string(peer_),
          "see what that rank does, or raise the time-out of calls"};
}

Status MessageLane::connect() {
  if (pair_) return {};
  const int from = is_send_ ? group_.rank : peer_;
  const int to = is_send_ ? peer_ : group_.rank;
  CommunicatorConfig config = group_.config;
  config.is_recorded = false;
  config.when_left = [report = report_](const UnreceivedMessages& left) { report->report(left); };
  config.fault_name = group_.config.name;
  config.name += "/" + std::to_string(from) + ">" + std::to_string(to);
  if (tag_ != 0) config.name += "/" + std::to_string(tag_);
  const std::string key = announcement(from, to, tag_);
  Meeting meeting{.store = group_.store,
                  .key = key + "/receiver",
                  .rank = is_send_ ? 0 : 1,
                  .size = 2,
                  .limit = group_.limit,
                  .look = [this] { return look_at_peer(); }};
  // The sender joins when the receiver is there: join() does not notice that the peer leaves the group.
  if (is_send_) {
    const Result<std::string> receiver = wait_for_key(meeting);
    if (!receiver) {
      return receiver.error().code == ErrorCode::Timeout ? waited_in_vain() : receiver.error();
    }
  } else {
    const Status told = put(*group_.store, meeting.key, "here");
    if (!told) return told;
  }
  meeting.key = key + "/id";
  Result<Communicator> made = meet(meeting, config);
  if (!made) return made.error().code == ErrorCode::Timeout ? waited_in_vain() : made.error();
  const std::lock_guard<std::mutex> lock(mutex_);
  pair_.emplace(*std::move(made));
  return {};
}

Status MessageLane::carry_out(const Message& message) {
  if (is_over_) return Error{ErrorCode::Aborted, "the process group was aborted"};
  if (is_send_) {
    try {
      group_.store->add(announcement(group_.rank, peer_, tag_), 1);
    } catch (const std::exception& thrown) {
      return Error{ErrorCode::System, std::string("PyTorch's store: ") + thrown.what()};
    }
  }
  const Status connected = connect();
  if (!connected) return connected;
  const Moved elements = moved(message.tensor);
  void* const data = message.tensor.data_ptr();
  const Status done = pair_->run(is_send_ ? Collective::Send : Collective::Recv, data, data,
                                 elements.count, elements.type, {.root = is_send_ ? 1 : 0});
  return done ? done : as_group_sees(done);
}

Status MessageLane::as_group_sees(const Status& failed) const {
  constexpr std::chrono::milliseconds kPause{10};
  // The group notices a death a moment after the pair.
  for (int tries = failed.error().code == ErrorCode::PeerGone ? 50 : 1; tries > 0; --tries) {
    const Status seen = look_at_peer();
    if (!seen) return seen;
    if (tries > 1) std::this_thread::sleep_for(kPause);
  }
  const int from = is_send_ ? group_.rank : peer_;
  const int to = is_send_ ? peer_ : group_.rank;
  Error error = failed.error();
  error.message = RankNames({}, {from, to}).renamed(error.message);
  return error;
}

void MessageLane::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    pushed_.wait(lock, [this] { return is_over_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Message message = std::move(queue_.front());
    queue_.pop_front();
    is_carrying_ = true;
    lock.unlock();
    Status done = carry_out(message);
    lock.lock();
    // Before the caller learns that it is done: a caller that then leaves the group must not abort what the other end
    // has yet to take.
    is_carrying_ = false;
    lock.unlock();
    // The error of a group that another message has broken names that message's ranks.
    if (!done && group_.communicator->status()) done = in_words(done.error(), words());
    message.record.end(static_cast<bool>(done));
    const UnreceivedReport::Sent sent{message.tensor.nbytes(), message.site};
    // A group that is broken has reported why.
    if (!done && is_over_ && is_send_ && group_.communicator->status())
      report_->report_aborted(sent);
    // What breaks a message breaks the group, as with NCCL: its other ranks write their dumps.
    if (!done && !is_over_) group_.communicator->abort(done.error());
    message.work->done(done);
    if (done) report_->add(sent, std::move(message.record));
    lock.lock();
  }
}

Messages::~Messages() {
  abort();
  if (any_thread_.joinable()) any_thread_.join();
}

MessageLane& Messages::lane(int peer, int tag, bool is_send) {
  auto& lane = lanes_[{peer, tag, is_send}];
  if (!lane) lane = std::make_unique<MessageLane>(group_, peer, tag, is_send);
  return *lane;
}

void Messages::send(int peer, int tag, Message message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lane(peer, tag, true).push(std::move(message));
}

void Messages::recv(int peer, int tag, Message message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++claimed_[{peer, tag}];
  lane(peer, tag, false).push(std::move(message));
}

void Messages::recv_any(int tag, Message message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  any_.push_back({tag, std::move(message), std::chrono::steady_clock::now() + group_.limit});
  if (!any_thread_.joinable()) any_thread_ = std::thread([this] { look_for_senders(); });
  any_pushed_.notify_all();
}

void Messages::abort() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_over_ = true;
  for (const auto& [key, lane] : lanes_) lane->abort();
  any_pushed_.notify_all();
}

void Messages::break_off(const Error& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key, lane] : lanes_) lane->break_off(why);
}

Result<std::optional<int>> Messages::find_sender(int tag) {
  const Status group = group_.communicator->status();
  if (!group) return group.error();
  bool are_all_gone = true;
  for (int peer = 0; peer < group_.size; ++peer) {
    if (peer == group_.rank) continue;
    const Result<bool> is_gone = has_left(*group_.store, peer);
    if (!is_gone) return is_gone.error();
    are_all_gone = are_all_gone && *is_gone;
    const std::int64_t begun = group_.store->add(announcement(peer, group_.rank, tag), 0);
    const std::lock_guard<std::mutex> lock(mutex_);
    std::int64_t& claimed = claimed_[{peer, tag}];
    if (begun <= claimed) continue;
    ++claimed;
    return std::optional<int>(peer);
  }
  if (!are_all_gone) return std::optional<int>();
  return Error{ErrorCode::InvalidArgument,
               "every other rank has left the communicator without a message",
               "have every rank make its calls before it ends"};
}

void Messages::look_for_senders() {
  constexpr std::chrono::milliseconds kPause{1};
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    any_pushed_.wait(lock, [this] { return is_over_ || !any_.empty(); });
    if (any_.empty()) return;
    AnyRecv& first = any_.front();
    lock.unlock();
    Status status;
    std::optional<int> peer;
    try {
      const Result<std::optional<int>> found = find_sender(first.tag);
      if (found) {
        peer = *found;
      } else {
        status = in_words(found.error(), "recv from any rank");
      }
    } catch (const std::exception& thrown) {
      status = Error{ErrorCode::System,
                     std::string("recv from any rank: PyTorch's store: ") + thrown.what()};
    }
    if (is_over_) {
      status = Error{ErrorCode::Aborted, "recv from any rank: the process group was aborted"};
    } else if (status && !peer && std::chrono::steady_clock::now() >= first.end) {
      status = Error{ErrorCode::Timeout, "recv from any rank: no rank has sent a message"};
    }
    if (!status) {
      first.message.record.end(false);
      if (!is_over_) group_.communicator->abort(status.error());
      first.message.work->done(status);
    } else if (!peer) {
      std::this_thread::sleep_for(kPause);
    }
    lock.lock();
    if (status && peer) {
      first.message.work->came_from(*peer);
      lane(*peer, first.tag, false).push(std::move(first.message));
    }
    if (!status || peer) any_.pop_front();
  }
}

}  // namespace ringside::pytorch

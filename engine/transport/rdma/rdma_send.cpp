#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "engine/protocol/ll.h"
#include "engine/protocol/staging.h"
#include "engine/protocol/wire_lines.h"
#include "engine/transport/rdma/rdma.h"
#include "engine/transport/rdma/rdma_ack_watch.h"
#include "engine/transport/rdma/rdma_slots.h"
#include "engine/transport/rdma/rdma_state.h"
#include "engine/transport/socket/answers.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/framed_slots.h"

namespace ringside {
namespace {

/// How long a destroyed end waits until the peer's adapter has received the posted data.
constexpr Nanoseconds kLinger = std::chrono::seconds(5);
/// How long this rank probes a lost peer's host over TCP: the first packet may be lost and is sent again after 1 s.
constexpr Nanoseconds kAskedFor = std::chrono::milliseconds(1500);

class RdmaSendEnd final : public SendEnd {
 public:
  RdmaSendEnd(UniqueFd peer, ConnectionShape shape, RdmaState& state, const OpenRdmaCard& card,
              RdmaMemory memory, RdmaLent lent, RdmaQueues queues, RdmaEndInfo theirs)
      : peer_(std::move(peer)),
        shape_(shape),
        layout_(shape),
        state_(state),
        card_(card),
        memory_(std::move(memory)),
        lent_(std::move(lent)),
        queues_(std::move(queues)),
        theirs_(std::move(theirs)),
        staging_(staging_of(shape)),
        acknowledgements_(card.settings) {}

  /// Waits for the delivery of posted data, unless the peer is gone.
  ~RdmaSendEnd() override {
    const Deadline deadline = deadline_in(kLinger);
    while (completed_ != posted_ && check_open(peer_.get()) && !has_passed(deadline) &&
           progress()) {
      std::this_thread::yield();
    }
  }
  RdmaSendEnd(const RdmaSendEnd&) = delete;
  RdmaSendEnd& operator=(const RdmaSendEnd&) = delete;

  Result<std::span<std::byte>> acquire() override {
    RINGSIDE_TRY(progress());
    if (is_full()) return std::span<std::byte>();
    is_held_ = true;
    if (shape_.protocol != Protocol::Simple) return staging_.bytes();
    return slot(posted_).first(shape_.slot_size.value);
  }

  Status post(Bytes size) override {
    RINGSIDE_TRY(check_size(size.value));
    if (!is_held_) return Error{ErrorCode::InvalidArgument, "post of a slot that is not held"};
    is_held_ = false;
    if (shape_.protocol != Protocol::Simple) return pack(staging_.bytes().first(size.value));
    return write_slot(slot(posted_).data(), size.value, slots());
  }

  Result<bool> send(std::span<const std::byte> from) override {
    RINGSIDE_TRY(check_size(from.size()));
    RINGSIDE_TRY(progress());
    if (is_full()) return false;
    RINGSIDE_TRY(pack(from));
    return true;
  }

  /// The adapter reads registered memory in place; lines of LL and LL128 must be packed first.
  [[nodiscard]] bool reaches_memory() const override {
    return shape_.protocol == Protocol::Simple && !lent_;
  }
  [[nodiscard]] LentUse lent() const override { return lent_.use(); }
  [[nodiscard]] std::uint64_t done() const override { return completed_; }

  Result<bool> refer(SharedSpan data, SharedSpan /*result*/, std::size_t bytes) override {
    if (!reaches_memory()) return SendEnd::refer(data, {}, bytes);
    RINGSIDE_TRY(check_size(bytes));
    RINGSIDE_TRY(progress());
    if (is_full()) return false;
    std::shared_ptr<const RdmaMemory>& used = referred_[layout_.index(posted_)];
    RINGSIDE_TRY(used, state_.registered(card_, *data.region));
    if (used == nullptr) {
      const std::span<std::byte> staged = slot(posted_).first(bytes);
      data.region->copy_out(data.offset, staged);
      RINGSIDE_TRY(write_slot(staged.data(), bytes, memory_));
      return true;
    }
    RINGSIDE_TRY(write_slot(used->bytes().data() + data.offset, bytes, *used));
    return true;
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    return look();
  }

  [[nodiscard]] bool is_drained() const override {
    // An error is returned by the next function that can fail.
    if (completed_ != posted_) static_cast<void>(look());
    return completed_ == posted_;
  }

  Status check_peer() override {
    RINGSIDE_TRY(progress());
    RINGSIDE_TRY(check_open(peer_.get()));
    RINGSIDE_TRY(state_.check());
    const auto waited = acknowledgements_.look(posted_, completed_, state_.clock().now());
    if (!waited) return {};
    const std::size_t queue = static_cast<std::size_t>(completed_ % queues_.count());
    return fail(rdma_unacknowledged_error(*waited, queues_.path_of(queue)));
  }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }

 private:
  [[nodiscard]] Status check_size(std::size_t bytes) const {
    if (bytes >= 1 && bytes <= shape_.slot_size.value) return {};
    return Error{ErrorCode::InvalidArgument, fmt::format("post of {} bytes", bytes)};
  }

  /// Same rule as at the receiver.
  [[nodiscard]] bool is_shown_by_flags() const { return shape_.protocol == Protocol::LL; }

  [[nodiscard]] const RdmaMemory& slots() const { return lent_ ? *lent_.memory : memory_; }
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t count) const {
    const std::span<std::byte> all = lent_ ? lent_.bytes() : memory_.bytes();
    return all.subspan(layout_.offset(count), layout_.stride);
  }

  /// Returns the total number of slots freed by the receiver, which writes it into this memory.
  [[nodiscard]] std::uint64_t freed() const {
    auto& counter =
        *reinterpret_cast<std::uint64_t*>(memory_.bytes().data() + counter_at(layout_, lent_));
    return std::atomic_ref(counter).load(std::memory_order_acquire);
  }

  /// A slot is free when the receiver has freed it and this adapter no longer needs it for retransmission.
  [[nodiscard]] bool is_full() const {
    return posted_ - completed_ >= layout_.slots || posted_ - freed() >= layout_.slots;
  }

  /// Packs the data into the next slot, as lines if needed, and posts the write.
  Status pack(std::span<const std::byte> data) {
    const std::size_t wire = wire_size(shape_.protocol, Bytes{data.size()}).value;
    if (shape_.protocol == Protocol::LL) {
      Ll::pack(slot(posted_).data(), shape_.slot_size, data, posted_, layout_.slots);
      const bool is_filled = Ll::fills_slot(posted_, layout_.slots);
      return write_slot(slot(posted_).data(), is_filled ? layout_.longest : wire, memory_);
    }
    pack_wire(shape_.protocol, slot(posted_).first(wire), data, posted_);
    return write_slot(slot(posted_).data(), wire, slots());
  }

  Status write_slot(const std::byte* from, std::size_t bytes, const RdmaMemory& memory) {
    const std::size_t split = card_.settings.splits_data ? queues_.count() : 1;
    const std::size_t part = rdma_part(bytes, split);
    const RdmaMark mark{static_cast<std::uint32_t>(posted_ & 0xff),
                        static_cast<std::uint32_t>(bytes)};
    const std::uint64_t count = posted_++;
    for (std::size_t at = 0; at < bytes; at += part) {
      const std::size_t queue =
          split > 1 ? at / part : static_cast<std::size_t>(count % queues_.count());
      ++parts_left_[layout_.index(count)];
      RINGSIDE_TRY(queues_.write(queue, {.from = from + at,
                                         .key = memory.local_key(queues_.port_of(queue)),
                                         .bytes = std::min(part, bytes - at),
                                         .to = theirs_.memory + layout_.offset(count) + at,
                                         .mark = is_shown_by_flags() ? nullptr : &mark,
                                         .id = count,
                                         .is_device = memory.is_device()}));
    }
    return {};
  }

  /// Processes the completions of sent requests.
  Status look() const {
    if (failed_) return *failed_;
    std::array<RdmaQueues::Done, 2 * kSlots> done;
    const Result<std::size_t> found = queues_.poll(done);
    if (!found) {
      // When a peer dies, its socket closes at once, while its adapter stops answering.
      const Status open = check_open(peer_.get());
      return fail(open ? found.error() : open.error());
    }
    for (const RdmaQueues::Done& one : std::span(done).first(*found)) {
      --parts_left_[layout_.index(one.id)];
    }
    while (completed_ != posted_ && parts_left_[layout_.index(completed_)] == 0) {
      referred_[layout_.index(completed_)].reset();
      ++completed_;
    }
    return {};
  }

  Error fail(Error error) const {
    const bool is_host_there = error.code == ErrorCode::Unreachable &&
                               answers_short_packets(peer_.get(), deadline_in(kAskedFor));
    failed_ = is_host_there ? with_answering_host(std::move(error)) : std::move(error);
    return *failed_;
  }

  UniqueFd peer_;
  ConnectionShape shape_;
  RdmaSlots layout_;
  RdmaState& state_;
  const OpenRdmaCard& card_;
  RdmaMemory memory_;  ///< own slots unless slots were lent, followed by the receiver's counter
  RdmaLent lent_;
  mutable RdmaQueues queues_;
  RdmaEndInfo theirs_;
  Staging staging_;
  RdmaAckWatch acknowledgements_;
  std::uint64_t posted_ = 0;
  mutable std::uint64_t completed_ = 0;  ///< slots that the peer's adapter has received
  mutable std::array<std::uint32_t, kRdmaLlSlots> parts_left_{};  ///< [slot]: parts in flight
  mutable std::array<std::shared_ptr<const RdmaMemory>, kRdmaLlSlots> referred_;
  mutable std::optional<Error> failed_;  ///< stored because a completion is reported only once
  bool is_held_ = false;
  std::atomic<bool> aborted_{false};

 public:
  static std::size_t counter_at(const RdmaSlots& layout, const RdmaLent& lent) {
    return lent ? 0 : layout.size();
  }
  static RdmaQueues::Depth depth_for(const RdmaSlots& layout) {
    return {.sends = static_cast<std::uint32_t>(layout.slots), .receives = 0};
  }
};

Result<std::vector<std::byte>> recv_rdma_frame(const Joint& joint) {
  return recv_frame(joint.peer.get(), kRdmaMessageLimit, joint.patience);
}

}  // namespace

Result<std::unique_ptr<SendEnd>> make_rdma_send_end(Joint joint) {
  auto& state = static_cast<RdmaState&>(*joint.state);
  const OpenRdmaCard& card = state.card_of(joint.channel);
  const RdmaSlots layout(joint.shape);
  enable_keepalive(joint.peer.get(), Attention::Late);
  RINGSIDE_TRY(const std::vector<std::byte> said, recv_rdma_frame(joint));
  RINGSIDE_TRY(RdmaEndInfo theirs, parse_rdma_message(said, joint.shape));
  RdmaLent lent = state.take(card, joint);
  const std::size_t counter_at = RdmaSendEnd::counter_at(layout, lent);
  RINGSIDE_TRY(RdmaMemory memory, RdmaMemory::allocate(card, counter_at + RdmaSlots::kGrain));
  RINGSIDE_TRY(RdmaQueues queues,
               RdmaQueues::make(card, theirs.queues.size(), RdmaSendEnd::depth_for(layout)));
  RINGSIDE_TRY(queues.connect(theirs, describe_peer(joint.peer.get())));
  const RdmaEndInfo mine = queues.info(memory, memory.bytes().subspan(counter_at));
  RINGSIDE_TRY(send_frame(joint.peer.get(), make_rdma_message(mine, joint.shape), joint.patience));
  RINGSIDE_TRY(const std::vector<std::byte> answer, recv_rdma_frame(joint));
  RINGSIDE_TRY(parse_rdma_answer(answer));
  return std::make_unique<RdmaSendEnd>(std::move(joint.peer), joint.shape, state, card,
                                       std::move(memory), std::move(lent), std::move(queues),
                                       std::move(theirs));
}

}  // namespace ringside

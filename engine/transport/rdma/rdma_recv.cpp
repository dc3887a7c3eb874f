#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "engine/protocol/ll.h"
#include "engine/protocol/size_error.h"
#include "engine/protocol/staging.h"
#include "engine/protocol/wire_lines.h"
#include "engine/transport/rdma/rdma.h"
#include "engine/transport/rdma/rdma_slots.h"
#include "engine/transport/rdma/rdma_state.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/tcp/framed_slots.h"

namespace ringside {
namespace {

/// Number of cells from which the counter of free slots is written if the adapter cannot send it inline; the limit of
/// writes in flight.
constexpr std::size_t kCells = 32;
/// Every eighth write of the counter requests a completion, which also frees the room of the writes before it.
constexpr std::uint64_t kReportedOf = 8;

class RdmaRecvEnd final : public RecvEnd {
 public:
  RdmaRecvEnd(UniqueFd peer, ConnectionShape shape, RdmaState& state, RdmaMemory memory,
              RdmaLent lent, std::shared_ptr<RdmaPending> pending)
      : peer_(std::move(peer)),
        shape_(shape),
        layout_(shape),
        state_(state),
        memory_(std::move(memory)),
        lent_(std::move(lent)),
        pending_(std::move(pending)),
        staging_(staging_of(shape)) {}

  ~RdmaRecvEnd() override { state_.forget(*pending_); }
  RdmaRecvEnd(const RdmaRecvEnd&) = delete;
  RdmaRecvEnd& operator=(const RdmaRecvEnd&) = delete;

  Result<std::span<const std::byte>> peek() override {
    if (!held_.empty()) return held_;
    if (is_shown_by_flags()) {
      RINGSIDE_TRY(const bool is_there, unpack_lines(staging_.bytes()));
      if (is_there) held_ = staging_.bytes().first(so_far_.size);
      return held_;
    }
    if (arrived_ == released_) RINGSIDE_TRY(progress());
    if (arrived_ == released_) return std::span<const std::byte>();
    const std::span<std::byte> wire = slot(released_).first(sizes_[released_ % kSlots]);
    RINGSIDE_TRY(held_, unpack_wire(shape_.protocol, wire, released_,
                                    shape_.protocol == Protocol::Simple ? wire : staging_.bytes()));
    return held_;
  }

  Status release() override {
    if (held_.empty()) {
      return Error{ErrorCode::InvalidArgument, "release of a slot that is not held"};
    }
    return give_back();
  }

  Result<bool> take(std::span<std::byte> to) override {
    if (!is_shown_by_flags()) return RecvEnd::take(to);
    RINGSIDE_TRY(const bool is_there, unpack_lines(to));
    if (!is_there) return false;
    if (so_far_.size != to.size()) {
      return other_size(std::exchange(so_far_, {}).size, to.size());
    }
    RINGSIDE_TRY(give_back());
    return true;
  }

  Status progress() override {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    const RdmaPending::Stage stage = pending_->stage.load(std::memory_order_acquire);
    if (stage == RdmaPending::Stage::Waiting) return {};
    if (stage == RdmaPending::Stage::Failed) return pending_->error;
    RINGSIDE_TRY(look());
    return announce_free();
  }

  Status check_peer() override {
    // In this order, data that the peer wrote before it ended is seen before its end.
    const Status open = check_open(peer_.get());
    RINGSIDE_TRY(progress());
    if (has_arrived()) return {};
    RINGSIDE_TRY(open);
    return state_.check();
  }

  void abort() noexcept override { aborted_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] Bytes slot_size() const override { return shape_.slot_size; }
  [[nodiscard]] LentUse lent() const override { return lent_.use(); }
  [[nodiscard]] std::uint64_t arrived() const override { return arrived_; }

 private:
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t count) const {
    const std::span<std::byte> all = lent_ ? lent_.bytes() : memory_.bytes();
    return all.subspan(layout_.offset(count), layout_.stride);
  }

  /// Processes the adapter's completions.
  Status look() {
    if (failed_) return *failed_;
    std::array<RdmaQueues::Done, 2 * kSlots> done;
    const Result<std::size_t> found = pending_->queues.poll(done);
    if (!found) {
      // When a peer dies, its socket closes at once, while its adapter stops answering.
      const Status open = check_open(peer_.get());
      failed_ = open ? found.error() : open.error();
      return *failed_;
    }
    for (const RdmaQueues::Done& one : std::span(done).first(*found)) {
      if (one.is_receive) {
        RINGSIDE_TRY(take_part(one));
      } else {
        announced_done_ = one.id;
      }
    }
    return {};
  }

  /// LL's lines carry their own arrival flags, word by word. An adapter may split LL128's lines, so that the flag
  /// could arrive before the data.
  [[nodiscard]] bool is_shown_by_flags() const { return shape_.protocol == Protocol::LL; }

  /// Unpacks the part of the oldest slot that has arrived, into the same place until the slot is complete.
  Result<bool> unpack_lines(std::span<std::byte> to) {
    if (aborted_.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::Aborted, "the connection was aborted"};
    }
    switch (Ll::unpack(slot(released_).data(), Bytes{to.size()}, released_, to.data(), so_far_)) {
      case Arrival::Partly:
        // Repeated in case cells were missing: the sender may wait for these slots.
        RINGSIDE_TRY(announce_free());
        return false;
      case Arrival::Whole:
        return true;
      case Arrival::BadSize:
        break;
    }
    const std::uint64_t size = std::exchange(so_far_, {}).size;
    if (size == 0 || size > shape_.slot_size.value) return bad_size(size, shape_.slot_size);
    return other_size(size, to.size());
  }

  [[nodiscard]] bool has_arrived() const {
    if (!is_shown_by_flags()) return arrived_ != released_;
    Unpacked own;
    return !held_.empty() || Ll::unpack(slot(released_).data(), shape_.slot_size, released_,
                                        staging_.bytes().data(), own) != Arrival::Partly;
  }

  Status give_back() {
    held_ = {};
    so_far_ = {};
    arrived_bytes_[released_ % kSlots] = 0;
    ++released_;
    return announce_free();
  }

  Status take_part(const RdmaQueues::Done& part) {
    // The mark is modulo 256: computes which of the next 8 slots it means.
    const std::uint64_t ahead = (part.mark.slot - released_) & 0xff;
    const std::uint64_t count = released_ + ahead;
    if (ahead >= kSlots || part.mark.bytes == 0 || part.mark.bytes > layout_.longest ||
        arrived_bytes_[count % kSlots] + part.bytes > part.mark.bytes) {
      return Error{
          ErrorCode::Corrupt,
          fmt::format(
              "it announced a slot of {} bytes, number {} where {} is due; slots hold 1 to {}",
              part.mark.bytes, part.mark.slot, released_ & 0xff, layout_.longest),
          "use the same slot size and version on every rank"};
    }
    sizes_[count % kSlots] = part.mark.bytes;
    arrived_bytes_[count % kSlots] += part.bytes;
    while (arrived_ - released_ < kSlots && arrived_bytes_[arrived_ % kSlots] != 0 &&
           arrived_bytes_[arrived_ % kSlots] == sizes_[arrived_ % kSlots]) {
      ++arrived_;
    }
    return {};
  }

  /// Writes the total number of freed slots into the sender's memory each time half of the slots have been freed. The
  /// sender has the other half left.
  Status announce_free() {
    if (released_ - announced_ < layout_.slots / 2) return {};
    // Slots may be freed before the queues are connected, because LL's lines do not show that to this thread.
    if (pending_->stage.load(std::memory_order_acquire) != RdmaPending::Stage::Ready) return {};
    if (announcements_ - announced_done_ >= kCells / 2) RINGSIDE_TRY(look());
    if (announcements_ - announced_done_ >= kCells) return {};
    announced_ = released_;
    ++announcements_;
    std::byte* const cell = memory_.bytes().data() + cells_at(layout_, lent_) +
                            announcements_ % kCells * sizeof announced_;
    std::memcpy(cell, &announced_, sizeof announced_);
    const bool is_reported = announcements_ % kReportedOf == 0;
    return pending_->queues.write(0, {.from = cell,
                                      .key = memory_.local_key(0),
                                      .bytes = sizeof announced_,
                                      .to = pending_->theirs.memory,
                                      .id = announcements_,
                                      .is_reported = is_reported});
  }

  UniqueFd peer_;
  ConnectionShape shape_;
  RdmaSlots layout_;
  RdmaState& state_;
  RdmaMemory memory_;  ///< own slots unless slots were lent, followed by the cells
  RdmaLent lent_;
  std::shared_ptr<RdmaPending> pending_;
  Staging staging_;
  std::array<std::size_t, kSlots> sizes_{};          ///< [slot]: bytes on the wire
  std::array<std::size_t, kSlots> arrived_bytes_{};  ///< [slot]: bytes that have arrived
  std::uint64_t arrived_ = 0;
  std::uint64_t released_ = 0;
  std::uint64_t announced_ = 0;       ///< released slots that were announced to the sender
  std::uint64_t announcements_ = 0;   ///< announcements written so far
  std::uint64_t announced_done_ = 0;  ///< announcements that are complete
  Unpacked so_far_;                   ///< progress of unpacking slot released_
  std::span<const std::byte> held_;   ///< data of slot released_ after peek() returned it
  std::optional<Error> failed_;       ///< stored because a completion is reported only once
  std::atomic<bool> aborted_{false};

 public:
  static std::size_t cells_at(const RdmaSlots& layout, const RdmaLent& lent) {
    return lent ? 0 : layout.size();
  }
  static std::size_t memory_for(const RdmaSlots& layout, const RdmaLent& lent) {
    return cells_at(layout, lent) + kCells * sizeof(std::uint64_t);
  }
  static constexpr RdmaQueues::Depth kDepth{.sends = kCells, .receives = kSlots};
};

}  // namespace

Result<std::unique_ptr<RecvEnd>> make_rdma_recv_end(Joint joint) {
  auto& state = static_cast<RdmaState&>(*joint.state);
  const OpenRdmaCard& card = state.card_of(joint.channel);
  const RdmaSlots layout(joint.shape);
  // If the two ranks request different numbers, the larger one applies, as in NCCL.
  const int queues_of_port = std::max(card.settings.queues, rdma_queues_of(joint.address));
  const std::size_t count = static_cast<std::size_t>(queues_of_port) * card.ports.size();
  RdmaLent lent = state.take(card, joint);
  RINGSIDE_TRY(RdmaMemory memory,
               RdmaMemory::allocate(card, RdmaRecvEnd::memory_for(layout, lent)));
  RINGSIDE_TRY(RdmaQueues queues, RdmaQueues::make(card, count, RdmaRecvEnd::kDepth));
  const RdmaEndInfo info =
      lent ? queues.info(*lent.memory, lent.bytes()) : queues.info(memory, memory.bytes());
  const int socket = joint.peer.get();
  enable_keepalive(socket, Attention::Late);
  RINGSIDE_TRY(send_frame(socket, make_rdma_message(info, joint.shape), joint.patience));
  auto pending = std::make_shared<RdmaPending>(socket, joint.shape, std::move(queues));
  auto end = std::make_unique<RdmaRecvEnd>(std::move(joint.peer), joint.shape, state,
                                           std::move(memory), std::move(lent), pending);
  state.add(std::move(pending));
  return end;
}

}  // namespace ringside

#include "engine/transport/faulty_end.h"

#include <mutex>
#include <utility>
#include <vector>

#include "engine/faults/link_faults.h"

namespace ringside {
namespace {

class FaultySendEnd final : public SendEnd {
 public:
  FaultySendEnd(std::unique_ptr<SendEnd> inner, const Fault& fault, Clock& clock)
      : inner_(std::move(inner)),
        slot_size_(inner_->slot_size()),
        reaches_memory_(inner_->reaches_memory()),
        state_(fault),
        clock_(clock) {}

  Result<std::span<std::byte>> acquire() override {
    if (!state_.may_send(now())) return std::span<std::byte>();
    RINGSIDE_TRY(const bool is_lost, is_next_lost());
    if (is_lost) {
      discarded_.resize(slot_size_.value);
      is_discarded_ = true;
      return std::span(discarded_);
    }
    is_discarded_ = false;
    return inner_->acquire();
  }

  Status post(Bytes size) override {
    if (!is_discarded_) {
      RINGSIDE_TRY(check_whole());
      RINGSIDE_TRY(inner_->post(size));
    }
    is_discarded_ = false;
    state_.sent(size, now());
    return {};
  }

  Result<bool> send(std::span<const std::byte> from) override {
    return deliver(Bytes{from.size()}, [&] { return inner_->send(from); });
  }
  [[nodiscard]] bool reaches_memory() const override { return reaches_memory_; }
  Result<bool> refer(SharedSpan data, SharedSpan result, std::size_t bytes) override {
    return deliver(Bytes{bytes}, [&] { return inner_->refer(data, result, bytes); });
  }
  Result<bool> announce(std::size_t bytes) override {
    return deliver(Bytes{bytes}, [&] { return inner_->announce(bytes); });
  }

  [[nodiscard]] bool is_drained() const override { return !inner_ || inner_->is_drained(); }

  Status progress() override {
    RINGSIDE_TRY(check_whole());
    return inner_->progress();
  }
  Status check_peer() override {
    RINGSIDE_TRY(check_whole());
    return inner_->check_peer();
  }
  void abort() noexcept override {
    const std::lock_guard lock(mutex_);
    if (inner_) inner_->abort();
  }
  [[nodiscard]] Bytes slot_size() const override { return slot_size_; }

 private:
  [[nodiscard]] Nanoseconds now() const { return clock_.now().time_since_epoch(); }

  [[nodiscard]] Status check_whole() const {
    if (inner_) return {};
    return Error{ErrorCode::PeerGone, "the connection was cut, as planned by a fault"};
  }

  /// Returns whether the next message is dropped. Closes the connection if the fault breaks it.
  /// errors  PeerGone: the fault has broken the connection
  Result<bool> is_next_lost() {
    if (state_.next_outcome() == LinkState::Outcome::Broken) {
      const std::lock_guard lock(mutex_);
      inner_.reset();
    }
    RINGSIDE_TRY(check_whole());
    return state_.next_outcome() == LinkState::Outcome::Lost;
  }

  template <typename Send>
  Result<bool> deliver(Bytes size, Send send) {
    if (!state_.may_send(now())) return false;
    RINGSIDE_TRY(const bool is_lost, is_next_lost());
    if (!is_lost) {
      RINGSIDE_TRY(const bool is_sent, send());
      if (!is_sent) return false;
    }
    state_.sent(size, now());
    return true;
  }

  std::mutex mutex_;                ///< guards inner_ against abort() while it is being closed
  std::unique_ptr<SendEnd> inner_;  ///< null: the connection is cut
  const Bytes slot_size_;
  const bool reaches_memory_;
  LinkState state_;
  Clock& clock_;
  std::vector<std::byte> discarded_;
  bool is_discarded_ = false;  ///< the acquired slot belongs to a message that is dropped
};

}  // namespace

std::unique_ptr<SendEnd> make_faulty_send_end(std::unique_ptr<SendEnd> inner, const Fault& fault,
                                              Clock& clock) {
  return std::make_unique<FaultySendEnd>(std::move(inner), fault, clock);
}

}  // namespace ringside

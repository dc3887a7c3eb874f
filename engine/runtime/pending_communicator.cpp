#include "engine/runtime/pending_communicator.h"

#include <utility>

#include "base/assert.h"

namespace ringside {

Result<std::unique_ptr<PendingCommunicator>> PendingCommunicator::start(
    BootstrapOptions join, CommunicatorOptions options, std::unique_ptr<BootstrapRoot> root,
    WhenMet when_met, ExecutorMaker make_executor) {
  RINGSIDE_TRY(Wakeup off, Wakeup::make());
  return std::unique_ptr<PendingCommunicator>(
      new PendingCommunicator(std::move(join), std::move(options), std::move(root),
                              std::move(when_met), std::move(make_executor), std::move(off)));
}

PendingCommunicator::PendingCommunicator(BootstrapOptions join, CommunicatorOptions options,
                                         std::unique_ptr<BootstrapRoot> root, WhenMet when_met,
                                         ExecutorMaker make_executor, Wakeup off)
    : join_(std::move(join)),
      options_(std::move(options)),
      when_met_(std::move(when_met)),
      make_executor_(std::move(make_executor)),
      off_(std::move(off)),
      root_(std::move(root)) {
  join_.off = &off_;
  thread_ = std::jthread([this] {
    auto made = make();
    const std::lock_guard lock(mutex_);
    bootstrap_.reset();
    made_ = std::move(made);
  });
}

PendingCommunicator::~PendingCommunicator() {
  if (!is_ready()) abort();
}

Result<std::unique_ptr<runtime::Communicator>> PendingCommunicator::make() {
  RINGSIDE_TRY(std::shared_ptr<Bootstrap> joined, Bootstrap::join(join_));
  {
    const std::lock_guard lock(mutex_);
    root_.reset();
    if (is_off_) return Error{ErrorCode::Aborted, "the making of the communicator was aborted"};
    bootstrap_ = joined;
  }
  if (when_met_) RINGSIDE_TRY(when_met_(*joined, options_));
  if (!make_executor_) return runtime::Communicator::make(std::move(joined), options_);
  return runtime::Communicator::make(std::move(joined), options_, make_executor_);
}

bool PendingCommunicator::is_ready() const {
  const std::lock_guard lock(mutex_);
  return made_.has_value();
}

Result<std::unique_ptr<runtime::Communicator>> PendingCommunicator::take() {
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  RINGSIDE_ASSERT(made_.has_value(), "taken {}", "twice");
  return std::exchange(made_, std::nullopt).value();
}

void PendingCommunicator::abort() {
  off_.signal();
  const std::lock_guard lock(mutex_);
  is_off_ = true;
  if (bootstrap_) bootstrap_->abort();
}

}  // namespace ringside

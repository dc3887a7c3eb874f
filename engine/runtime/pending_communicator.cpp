#include "engine/runtime/pending_communicator.h"

#include <utility>

#include "base/assert.h"

namespace ringside {

Result<std::unique_ptr<PendingCommunicator>> PendingCommunicator::start(
    BootstrapOptions join, CommunicatorOptions options, std::unique_ptr<BootstrapRoot> root,
    WhenMet when_met, ExecutorMaker make_executor) {
  RINGSIDE_TRY(Wakeup cancel, Wakeup::make());
  return std::unique_ptr<PendingCommunicator>(
      new PendingCommunicator(std::move(join), std::move(options), std::move(root),
                              std::move(when_met), std::move(make_executor), std::move(cancel)));
}

PendingCommunicator::PendingCommunicator(BootstrapOptions join, CommunicatorOptions options,
                                         std::unique_ptr<BootstrapRoot> root, WhenMet when_met,
                                         ExecutorMaker make_executor, Wakeup cancel)
    : join_(std::move(join)),
      options_(std::move(options)),
      when_met_(std::move(when_met)),
      make_executor_(std::move(make_executor)),
      cancel_(std::move(cancel)),
      root_(std::move(root)) {
  join_.cancel = &cancel_;
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
    if (is_aborted_)
      return Error{ErrorCode::Aborted, "the communicator was aborted before it was ready"};
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
  cancel_.signal();
  const std::lock_guard lock(mutex_);
  is_aborted_ = true;
  if (bootstrap_) bootstrap_->abort();
}

}  // namespace ringside

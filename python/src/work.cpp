#include "python/src/work.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <exception>
#include <stdexcept>
#include <utility>

namespace ringside::pytorch {
namespace {

std::string text_of(const Error& error, const RankNames& names) {
  // A requested end has the words of the rank that requested it.
  std::string text =
      error.code == ErrorCode::Aborted ? error.message : names.renamed(error.message);
  if (!error.help.empty()) text += "; " + error.help;
  if (error.code == ErrorCode::Timeout) {
    text += " (`timeout=` of init_process_group and new_group, or RINGSIDE_OP_TIMEOUT in seconds)";
  }
  return text;
}

}  // namespace

CallWork::CallWork(int rank, c10d::OpType type, std::string name,
                   std::shared_ptr<const RankNames> names, std::vector<at::Tensor> outputs)
    : Work(rank, type),
      name_(std::move(name)),
      names_(std::move(names)),
      outputs_(std::move(outputs)),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

void CallWork::belongs_to(std::weak_ptr<Communicator> communicator, std::uint64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  communicator_ = std::move(communicator);
  number_ = number;
}

bool CallWork::wait(std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!completed_ && limit == kNoTimeout && number_ != 0) {
    const std::uint64_t number = number_;
    if (const std::shared_ptr<Communicator> communicator = communicator_.lock()) {
      lock.unlock();
      communicator->wait(number);
      lock.lock();
    }
  }
  if (limit == kNoTimeout) {
    cv_.wait(lock, [this] { return completed_; });
  } else if (!cv_.wait_for(lock, limit, [this] { return completed_; })) {
    throw std::runtime_error("ringside: " + name_ + " is not done after " +
                             std::to_string(limit.count()) + " ms; it goes on");
  }
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> CallWork::getFuture() { return future_; }

void CallWork::done(const Status& status) {
  std::exception_ptr failed;
  if (!status) {
    failed = std::make_exception_ptr(
        std::runtime_error("ringside: " + name_ + ": " + text_of(status.error(), *names_)));
  } else if (finish_) {
    try {
      finish_();
    } catch (...) {
      failed = std::current_exception();
    }
  }
  finish_ = {};
  // Callbacks of the future may wait for the work: it completes first.
  finish(failed);
  if (failed) {
    future_->setError(failed);
  } else {
    future_->markCompleted(c10::IValue(outputs_));
  }
}

}  // namespace ringside::pytorch

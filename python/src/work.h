#pragma once

#include <ringside/communicator.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "python/src/base.h"
#include "python/src/rank_names.h"

namespace ringside::pytorch {

/// A call under way.
///
/// Threads  any
class CallWork : public c10d::Work {
 public:
  /// names    of the group, for the reason of a failure
  /// outputs  what the call writes: the value of the future
  CallWork(int rank, c10d::OpType type, std::string name, std::shared_ptr<const RankNames> names,
           std::vector<at::Tensor> outputs);

  /// Waits for the call. Without a limit, the caller's thread runs what the group's thread has not begun.
  /// errors  throws what made the call fail; std::runtime_error, once the limit is over
  bool wait(std::chrono::milliseconds limit) override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  std::vector<at::Tensor> result() override { return outputs_; }
  int sourceRank() const override { return source_; }
  void synchronize() override {}
  void abort() override {}

  /// Sets what is left to do after a successful call, such as copying results. Called once at most, before done().
  void when_done(std::function<void()> finish) { finish_ = std::move(finish); }
  /// Names the calls of a communicator that carry out the work, the last one by its number: wait() runs them on the
  /// caller's thread, where the group's thread has not begun them.
  void belongs_to(std::weak_ptr<Communicator> communicator, std::uint64_t number);
  /// Sets the rank that a message of any source came from. Called before done().
  void came_from(int source) { source_ = source; }
  /// Completes the work: runs what is left to do after a success, then sets the future's value or error. Called once, on
  /// any thread.
  void done(const Status& status);

 private:
  const std::string name_;
  const std::shared_ptr<const RankNames> names_;
  const std::vector<at::Tensor> outputs_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::function<void()> finish_;
  std::weak_ptr<Communicator> communicator_;
  std::uint64_t number_ = 0;
  int source_ = -1;
};

}  // namespace ringside::pytorch

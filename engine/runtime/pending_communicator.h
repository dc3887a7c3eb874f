#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/communicator.h"
#include "engine/transport/socket/wakeup.h"

namespace ringside {

/// A communicator that is being made on a thread of its own: the caller need not wait for the other ranks, and may
/// call it off at any moment.
///
/// Threads    any
/// Ownership  called off, and waited for, where it goes before it is ready
class PendingCommunicator {
 public:
  /// What else the ranks do once they have met; on the object's thread.
  using WhenMet = std::function<Status(Bootstrap& bootstrap)>;
  /// make_executor  of the communicator; empty: one on hosts
  /// root  kept until the rank has joined; null: it is elsewhere
  /// errors  System: no descriptors
  static Result<std::unique_ptr<PendingCommunicator>> start(BootstrapOptions join,
                                                            CommunicatorOptions options,
                                                            std::unique_ptr<BootstrapRoot> root,
                                                            WhenMet when_met = {},
                                                            ExecutorMaker make_executor = {});
  ~PendingCommunicator();
  PendingCommunicator(const PendingCommunicator&) = delete;
  PendingCommunicator& operator=(const PendingCommunicator&) = delete;

  [[nodiscard]] bool is_ready() const;

  /// Waits for it. Once.
  /// errors  as Bootstrap::join(), what was to be done when the ranks had met, and Communicator::make()
  Result<std::unique_ptr<runtime::Communicator>> take();

  /// Ends the making at once, with Aborted or what the other ranks then say.
  void abort();

 private:
  PendingCommunicator(BootstrapOptions join, CommunicatorOptions options,
                      std::unique_ptr<BootstrapRoot> root, WhenMet when_met,
                      ExecutorMaker make_executor, Wakeup off);
  Result<std::unique_ptr<runtime::Communicator>> make();

  BootstrapOptions join_;
  const CommunicatorOptions options_;
  const WhenMet when_met_;
  const ExecutorMaker make_executor_;
  const Wakeup off_;
  mutable std::mutex mutex_;  ///< guards what follows
  std::unique_ptr<BootstrapRoot> root_;
  std::shared_ptr<Bootstrap> bootstrap_;
  bool is_off_ = false;
  std::optional<Result<std::unique_ptr<runtime::Communicator>>> made_;
  std::jthread thread_;  // last: it uses all
};

}  // namespace ringside

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

/// A communicator that is being made on a background thread. The caller need not wait for the other ranks, and may
/// cancel it at any time.
///
/// Threads    any
/// Ownership  the destructor cancels a communicator that is not ready, and waits for the thread
class PendingCommunicator {
 public:
  /// Further work after the ranks have joined and before the communicator is made. It may change the options. Called on
  /// the background thread.
  using WhenMet = std::function<Status(Bootstrap& bootstrap, CommunicatorOptions& options)>;
  /// Starts to make the communicator.
  /// make_executor  makes its executor; empty: the host executor
  /// root  kept alive until the rank has joined; null: another process runs the root
  /// errors  System: no file descriptors
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
  /// errors  as Bootstrap::join(), WhenMet and Communicator::make().  Aborted
  Result<std::unique_ptr<runtime::Communicator>> take();

  /// Cancels at once: take() returns Aborted, or the error that the other ranks report.
  void abort();

 private:
  PendingCommunicator(BootstrapOptions join, CommunicatorOptions options,
                      std::unique_ptr<BootstrapRoot> root, WhenMet when_met,
                      ExecutorMaker make_executor, Wakeup cancel);
  Result<std::unique_ptr<runtime::Communicator>> make();

  BootstrapOptions join_;
  CommunicatorOptions options_;  ///< used by the thread only
  const WhenMet when_met_;
  const ExecutorMaker make_executor_;
  const Wakeup cancel_;       ///< ends the wait in Bootstrap::join()
  mutable std::mutex mutex_;  ///< guards the members below
  std::unique_ptr<BootstrapRoot> root_;
  std::shared_ptr<Bootstrap> bootstrap_;
  bool is_aborted_ = false;
  std::optional<Result<std::unique_ptr<runtime::Communicator>>> made_;
  std::jthread thread_;  // last member: it uses the others
};

}  // namespace ringside

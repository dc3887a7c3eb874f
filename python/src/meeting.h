#pragma once

#include <ringside/communicator.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "python/src/base.h"

/// How ranks meet through PyTorch's Store.

namespace ringside::pytorch {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

/// Where the ranks of a communicator meet.
struct Meeting {
  StorePtr store;
  std::string key;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds limit{0};
  /// Set by another thread to give up; null: never
  const std::atomic<bool>* is_over = nullptr;
};

/// Waits for the key without blocking the store, which other threads use.
/// errors  Timeout; Aborted: `is_over` was set; System: the store failed
Result<std::string> wait_for_key(const Meeting& meeting);

/// Joins the ranks to a communicator: rank 0 puts its id into the store.
/// errors  as wait_for_key() and Communicator::join()
Result<Communicator> meet(const Meeting& meeting, const CommunicatorConfig& config);

/// Returns once all ranks have called it, `count` times each.
/// errors  Timeout: names the ranks that did not come: the first one, or all of them
Status monitored_barrier(const Meeting& meeting, bool names_all);

}  // namespace ringside::pytorch

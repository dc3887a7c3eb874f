#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/cores.h"
#include "base/result.h"

namespace ringside {

/// Calls work(0) .. work(count - 1) on all cores, and begun(i) from the calling thread before each
/// of its own calls.
/// returns  the error of the lowest index that failed
template <typename Work, typename Begun>
Status for_each_on_cores(int count, const Work& work, const Begun& begun) {
  std::vector<Status> failed(static_cast<std::size_t>(count));
  std::atomic<int> next = 0;
  const auto caller = std::this_thread::get_id();
  const auto take_turns = [&] {
    for (int i = next++; i < count; i = next++) {
      if (std::this_thread::get_id() == caller) begun(static_cast<std::size_t>(i));
      failed[static_cast<std::size_t>(i)] = work(i);
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < std::min(worker_count(), count); ++i) others.emplace_back(take_turns);
    take_turns();
  }
  for (const Status& one : failed) RINGSIDE_TRY(one);
  return {};
}

}  // namespace ringside

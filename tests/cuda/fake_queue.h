#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/cuda/device/device_queue.h"
#include "engine/runtime/host/host_stream.h"

namespace ringside {

/// Replaces a CUDA stream: executes its work in order on a thread of its own, or, during capture, records it in a
/// graph.
class FakeStream {
 public:
  using Graph = std::vector<HostStream::Work>;

  void push(HostStream::Work work) {
    if (is_capturing_) {
      captured_.push_back(std::move(work));
    } else {
      queue_.push(std::move(work));
    }
  }
  void synchronize() { queue_.synchronize(); }
  [[nodiscard]] bool is_idle() const { return queue_.is_idle(); }

  void begin_capture() { is_capturing_ = true; }
  Graph end_capture() {
    is_capturing_ = false;
    return std::exchange(captured_, {});
  }
  [[nodiscard]] bool is_capturing() const { return is_capturing_; }
  void launch(const Graph& graph) {
    for (const HostStream::Work& work : graph) queue_.push(work);
  }

 private:
  bool is_capturing_ = false;
  Graph captured_;
  HostStream queue_;
};

/// A queue whose launches call `run` on the thread of their stream.
class FakeQueue final : public DeviceQueue {
 public:
  /// returns  false if the launch did not end
  using Run = std::function<bool(const DeviceLaunch&, Collective)>;
  explicit FakeQueue(Run run) : run_(std::move(run)) {}

  Result<Ticket> begin(const DeviceLaunch& launch, Collective collective,
                       std::optional<DeviceStream> stream) override {
    FakeStream& on =
        stream && stream->stream != nullptr ? *static_cast<FakeStream*>(stream->stream) : own_;
    launches.push_back(launch);
    if (on.is_capturing()) {
      on.push([this, launch, collective] { run(launch, collective); });
      return kCaptured;
    }
    const Ticket mine = ++begun_;
    on.push([this, launch, collective, mine] {
      wait_until(mine - 1);
      run(launch, collective);
      const std::lock_guard lock(mutex_);
      ended_ = mine;
      changed_.notify_all();
    });
    return mine;
  }

  Status wait(Ticket ticket) override {
    wait_until(ticket);
    const std::lock_guard lock(mutex_);
    if (!has_hung_) return {};
    return Error{ErrorCode::System, "the launch did not end"};
  }

  Result<bool> is_capturing(DeviceStream stream) override {
    return stream.stream != nullptr && static_cast<FakeStream*>(stream.stream)->is_capturing();
  }

  /// All launches that have begun, for tests to examine.
  std::vector<DeviceLaunch> launches;

 private:
  void wait_until(Ticket ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ >= ticket; });
  }
  void run(const DeviceLaunch& launch, Collective collective) {
    const bool has_ended = run_(launch, collective);
    const std::lock_guard lock(mutex_);
    has_hung_ = has_hung_ || !has_ended;
  }

  const Run run_;
  Ticket begun_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  Ticket ended_ = 0;
  bool has_hung_ = false;
  FakeStream own_;  // last member: its thread uses the members above
};

}  // namespace ringside

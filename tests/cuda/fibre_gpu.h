#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "engine/cuda/gpu/gpu.h"
#include "tests/cuda/device_under_test.h"
#include "tests/cuda/fake_queue.h"

namespace ringside {

/// A GPU whose kernels are fibres: work is finished as soon as it is started, and takes a microsecond.
class FibreGpu final : public Gpu {
 public:
  explicit FibreGpu(const DeviceCompany& company = {})
      : device_(*make_device(company)), launcher_(device_->launcher()) {
    facts_.multiprocessors = 64;
    facts_.memory = 1_MiB;
  }

  [[nodiscard]] const GpuFacts& facts() const override { return facts_; }
  DeviceMemory& memory() override { return launcher_.memory; }
  Status launch(const DeviceLaunch& launch, Collective collective) override {
    if (stream_.is_capturing()) {
      stream_.push([this, launch, collective] { launcher_.run(launch, collective); });
      return {};
    }
    if (launcher_.run(launch, collective)) return {};
    return Error{ErrorCode::System, "the launch did not end"};
  }
  DeviceQueue& queue() override { return device_->queue(); }
  Status copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    std::memcpy(to, from, bytes.value);
    return {};
  }
  Status finish() override {
    stream_.synchronize();
    return {};
  }
  Result<bool> is_idle() override { return stream_.is_idle(); }
  [[nodiscard]] void* stream() const override { return &stream_; }
  Result<std::unique_ptr<GpuGraph>> capture(const std::function<Status()>& work) override {
    stream_.begin_capture();
    const Status done = work();
    FakeStream::Graph graph = stream_.end_capture();
    RINGSIDE_TRY(done);
    return std::unique_ptr<GpuGraph>(std::make_unique<FibreGraph>(stream_, std::move(graph)));
  }
  Result<Seconds> time(const std::function<Status()>& work) override {
    RINGSIDE_TRY(work());
    stream_.synchronize();
    ++timed_;
    return Seconds{1e-6};
  }

  /// Returns how many times something was timed.
  [[nodiscard]] int timed() const { return timed_; }

 private:
  class FibreGraph final : public GpuGraph {
   public:
    FibreGraph(FakeStream& stream, FakeStream::Graph graph)
        : stream_(stream), graph_(std::move(graph)) {}
    Status begin() override {
      stream_.launch(graph_);
      return {};
    }

   private:
    FakeStream& stream_;
    const FakeStream::Graph graph_;
  };

  std::unique_ptr<DeviceUnderTest> device_;
  DeviceLauncher launcher_;
  GpuFacts facts_;
  int timed_ = 0;
  mutable FakeStream stream_;  // last member: its thread uses the members above
};

}  // namespace ringside

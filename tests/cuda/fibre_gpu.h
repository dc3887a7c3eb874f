#pragma once

#include <cstring>
#include <functional>
#include <memory>

#include "engine/cuda/gpu.h"
#include "tests/cuda/device_under_test.h"

namespace ringside {

/// A GPU whose kernels are fibres: what begins is done at once, and takes a microsecond.
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
    if (launcher_.run(launch, collective)) return {};
    return Error{ErrorCode::System, "the launch did not end"};
  }
  DeviceQueue& queue() override { return device_->queue(); }
  Status copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    std::memcpy(to, from, bytes.value);
    return {};
  }
  Status finish() override { return {}; }
  Result<bool> is_idle() override { return true; }
  [[nodiscard]] void* stream() const override { return nullptr; }
  Result<std::unique_ptr<GpuGraph>> capture(const std::function<Status()>& /*work*/) override {
    class NoWork final : public GpuGraph {
      Status begin() override { return {}; }
    };
    return std::unique_ptr<GpuGraph>(std::make_unique<NoWork>());
  }
  Result<Seconds> time(const std::function<Status()>& work) override {
    RINGSIDE_TRY(work());
    return Seconds{1e-6};
  }

 private:
  std::unique_ptr<DeviceUnderTest> device_;
  DeviceLauncher launcher_;
  GpuFacts facts_;
};

}  // namespace ringside

#include "engine/cuda/gpu/gpu_multicast.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "engine/cuda/gpu/gpu_pages.h"
#include "engine/cuda/gpu/gpu_thread.h"

namespace ringside {

const GpuMulticastDriver* GpuMulticastDriver::find() {
  static const std::optional<GpuMulticastDriver> found = [] {
    std::optional<GpuMulticastDriver> driver(std::in_place);
#define RINGSIDE_FIND(name, version)                                                             \
  driver->name = reinterpret_cast<decltype(driver->name)>(find_driver_function(#name, version)); \
  if (driver->name == nullptr) return std::optional<GpuMulticastDriver>();
    RINGSIDE_GPU_MULTICAST_FUNCTIONS(RINGSIDE_FIND)
#undef RINGSIDE_FIND
    return driver;
  }();
  return found ? &*found : nullptr;
}

#if CUDA_VERSION >= 12010

namespace {

/// A multicast object that this device has joined, and this device's memory in it once bound. The memory stays bound
/// as long as any process holds the object, because another member's kernel may still store there after this one has
/// failed.
class Share {
 public:
  Share(const GpuMulticastDriver& driver, GpuPages object)
      : driver_(driver), object_(std::move(object)) {}

  /// Blocks until all devices have joined.
  Result<SwitchSlots> bind(int device) {
    const GpuDriver& driver = object_.driver();
    const Bytes size = object_.size();
    RINGSIDE_TRY(GpuPages pages, GpuPages::make(driver, device, size));
    RINGSIDE_TRY(driver.check(
        driver_.cuMulticastBindMem(object_.handle(), 0, pages.handle(), 0, size.value, 0),
        "cuMulticastBindMem"));
    RINGSIDE_TRY(all_, MappedGpuPages::map(std::move(object_), device));
    RINGSIDE_TRY(own_, MappedGpuPages::map(std::move(pages), device));
    return SwitchSlots{.own = own_->data(), .all = all_->data()};
  }

 private:
  const GpuMulticastDriver& driver_;
  GpuPages object_;  ///< before bind()
  std::optional<MappedGpuPages> own_, all_;
};

/// Adds to an error what the user can do if the switch does not accept the GPUs.
Error with_fix(const Error& error) {
  return {
      error.code, "memory behind the NVSwitch: " + error.message,
      "see whether the fabric manager runs; NCCL_NVLS_ENABLE=0 continues with copies in place of "
      "the switch"};
}
Status with_fix(const Status& status) { return status ? status : with_fix(status.error()); }

/// Each call runs in the device's context if there is one; a simulated driver has none.
class GpuMulticast final : public DeviceMulticast {
 public:
  GpuMulticast(const GpuDriver& driver, const GpuMulticastDriver& multicast, int device)
      : driver_(driver), multicast_(multicast), device_(device) {}

  Result<UniqueFd> make(const Shape& shape) override {
    const auto here = OnGpu::device(device_);
    auto object = create(shape);
    if (!object) return with_fix(object.error());
    return object->file();
  }

  Status join(const UniqueFd& file, const Shape& shape, int /*index*/) override {
    const auto here = OnGpu::device(device_);
    RINGSIDE_TRY(const CUmulticastObjectProp wanted, object_of(shape));
    RINGSIDE_TRY(GpuPages object, GpuPages::open(driver_, file, Bytes{wanted.size}));
    CUdevice device = 0;
    RINGSIDE_TRY(driver_.check(driver_.cuDeviceGet(&device, device_), "cuDeviceGet"));
    RINGSIDE_TRY(with_fix(driver_.check(multicast_.cuMulticastAddDevice(object.handle(), device),
                                        "cuMulticastAddDevice")));
    shares_.push_back(std::make_unique<Share>(multicast_, std::move(object)));
    return {};
  }

  Result<SwitchSlots> bind() override {
    const auto here = OnGpu::device(device_);
    auto slots = shares_.back()->bind(device_);
    if (!slots) return with_fix(slots.error());
    return slots;
  }

 private:
  [[nodiscard]] Result<CUmulticastObjectProp> object_of(const Shape& shape) const {
    CUmulticastObjectProp object = {};
    object.numDevices = static_cast<unsigned>(shape.members);
    object.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    object.size = shape.size.value;
    std::size_t unit = 0;
    // Uses the minimum granularity: the recommended one needs more memory to save entries in the switch's tables.
    RINGSIDE_TRY(driver_.check(
        multicast_.cuMulticastGetGranularity(&unit, &object, CU_MULTICAST_GRANULARITY_MINIMUM),
        "cuMulticastGetGranularity"));
    object.size = (shape.size.value + unit - 1) / unit * unit;
    return object;
  }

  [[nodiscard]] Result<GpuPages> create(const Shape& shape) const {
    RINGSIDE_TRY(const CUmulticastObjectProp wanted, object_of(shape));
    CUmemGenericAllocationHandle handle = 0;
    RINGSIDE_TRY(driver_.check(
        multicast_.cuMulticastCreate(&handle, &wanted),
        fmt::format("cuMulticastCreate for {} GPUs, {} bytes", shape.members, wanted.size)
            .c_str()));
    return GpuPages(driver_, handle, Bytes{wanted.size});
  }

  const GpuDriver& driver_;
  const GpuMulticastDriver& multicast_;
  const int device_;
  std::vector<std::unique_ptr<Share>> shares_;  ///< in the order of joining
};

}  // namespace

bool has_gpu_multicast(const GpuDriver& driver, int device) {
  return GpuMulticastDriver::find() != nullptr &&
         driver.attribute(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, device) != 0;
}

std::unique_ptr<DeviceMulticast> make_gpu_multicast(const GpuDriver& driver,
                                                    const GpuMulticastDriver& multicast,
                                                    int device) {
  return std::make_unique<GpuMulticast>(driver, multicast, device);
}

#else

bool has_gpu_multicast(const GpuDriver& /*driver*/, int /*device*/) { return false; }
std::unique_ptr<DeviceMulticast> make_gpu_multicast(const GpuDriver& /*driver*/,
                                                    const GpuMulticastDriver& /*multicast*/,
                                                    int /*device*/) {
  return nullptr;
}

#endif

}  // namespace ringside

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "engine/topology/sources/nvml_source.h"

namespace ringside {
namespace {

// The used part of NVML's stable C interface, declared here so that no header of the CUDA Toolkit is needed.
// source  NVIDIA's NVML API reference, driver 525 and later
using NvmlReturn = int;
using NvmlDevice = void*;
constexpr NvmlReturn kSuccess = 0;

struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

struct NvmlFieldValue {
  unsigned field_id, scope_id;
  long long timestamp, latency_us;
  int value_type;
  NvmlReturn result;
  union {
    double real;
    unsigned number;
    unsigned long long wide;
  } value;
};

constexpr unsigned kP2pSupported = 0;  ///< NVML_NVLINK_CAP_P2P_SUPPORTED
/// NVML_FI_DEV_C2C_LINK_COUNT, _GET_STATUS and _GET_MAX_BW (MB/s)
constexpr unsigned kC2cCount = 170, kC2cStatus = 171, kC2cBandwidth = 172;

class LoadedNvml final : public NvmlDriver {
 public:
  explicit LoadedNvml(void* library) : library_(library) {}
  ~LoadedNvml() override {
    if (is_started_) shutdown_();
    ::dlclose(library_);
  }
  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;

  /// Returns false if a function is missing or the driver does not respond.
  bool start() {
    NvmlReturn (*init)() = nullptr;
    const bool has_all = find("nvmlInit_v2", init) && find("nvmlShutdown", shutdown_) &&
                         find("nvmlDeviceGetCount_v2", count_) &&
                         find("nvmlDeviceGetHandleByIndex_v2", handle_) &&
                         find("nvmlDeviceGetPciInfo_v3", pci_) &&
                         find("nvmlDeviceGetCudaComputeCapability", capability_) &&
                         find("nvmlDeviceGetNvLinkState", link_state_) &&
                         find("nvmlDeviceGetNvLinkCapability", link_capability_) &&
                         find("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote_) &&
                         find("nvmlErrorString", error_);
    find("nvmlDeviceGetFieldValues",
         fields_);  // missing in older drivers, which do not support C2C
    is_started_ = has_all && init() == kSuccess;
    return is_started_;
  }

  Result<int> device_count() override {
    unsigned count = 0;
    RINGSIDE_TRY(check(count_(&count), "counting GPUs"));
    return static_cast<int>(count);
  }

  Result<std::string> bus_id(int device) override {
    RINGSIDE_TRY(NvmlDevice handle, handle_of(device));
    NvmlPciInfo info{};
    RINGSIDE_TRY(check(pci_(handle, &info), "asking for a GPU's bus id"));
    return text_of(info);
  }

  Result<int> compute_capability(int device) override {
    RINGSIDE_TRY(NvmlDevice handle, handle_of(device));
    int major = 0, minor = 0;
    RINGSIDE_TRY(check(capability_(handle, &major, &minor), "asking for a compute capability"));
    return major * 10 + minor;
  }

  std::optional<std::string> link_remote(int device, int link) override {
    const auto handle = handle_of(device);
    if (!handle) return std::nullopt;
    const auto index = static_cast<unsigned>(link);
    unsigned has_p2p = 0;
    if (link_capability_(*handle, index, kP2pSupported, &has_p2p) != kSuccess || has_p2p == 0) {
      return std::nullopt;
    }
    int is_active = 0;
    if (link_state_(*handle, index, &is_active) != kSuccess || is_active == 0) return std::nullopt;
    NvmlPciInfo info{};
    if (link_remote_(*handle, index, &info) != kSuccess) return std::nullopt;
    return text_of(info);
  }

  std::optional<HostC2c> c2c(int device) override {
    const auto handle = handle_of(device);
    if (!handle || fields_ == nullptr) return std::nullopt;
    const auto links = field(*handle, kC2cCount, 0);
    HostC2c found;
    for (unsigned link = 0; link < links.value_or(0); ++link) {
      if (field(*handle, kC2cStatus, link).value_or(0) == 0) continue;
      found.mbytes_per_second = static_cast<int>(field(*handle, kC2cBandwidth, link).value_or(0));
      ++found.count;
    }
    if (found.count == 0) return std::nullopt;
    return found;
  }

 private:
  template <typename Function>
  bool find(const char* name, Function*& function) {
    // POSIX lets an object pointer from dlsym hold a function's address; C++ requires the cast.
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    return function != nullptr;
  }

  Status check(NvmlReturn result, const char* what) const {
    if (result == kSuccess) return {};
    return Error{ErrorCode::System, fmt::format("NVML: {}: {}", what, error_(result)),
                 "see whether nvidia-smi works"};
  }

  Result<NvmlDevice> handle_of(int device) const {
    NvmlDevice handle = nullptr;
    RINGSIDE_TRY(check(handle_(static_cast<unsigned>(device), &handle), "opening a GPU"));
    return handle;
  }

  static std::string text_of(const NvmlPciInfo& info) {
    return {info.bus_id, ::strnlen(info.bus_id, sizeof info.bus_id)};
  }

  std::optional<unsigned> field(NvmlDevice handle, unsigned id, unsigned scope) const {
    NvmlFieldValue value{};
    value.field_id = id;
    value.scope_id = scope;
    if (fields_(handle, 1, &value) != kSuccess || value.result != kSuccess) return std::nullopt;
    return value.value.number;
  }

  void* library_;
  bool is_started_ = false;
  NvmlReturn (*shutdown_)() = nullptr;
  NvmlReturn (*count_)(unsigned*) = nullptr;
  NvmlReturn (*handle_)(unsigned, NvmlDevice*) = nullptr;
  NvmlReturn (*pci_)(NvmlDevice, NvmlPciInfo*) = nullptr;
  NvmlReturn (*capability_)(NvmlDevice, int*, int*) = nullptr;
  NvmlReturn (*link_state_)(NvmlDevice, unsigned, int*) = nullptr;
  NvmlReturn (*link_capability_)(NvmlDevice, unsigned, unsigned, unsigned*) = nullptr;
  NvmlReturn (*link_remote_)(NvmlDevice, unsigned, NvmlPciInfo*) = nullptr;
  NvmlReturn (*fields_)(NvmlDevice, int, NvmlFieldValue*) = nullptr;
  const char* (*error_)(NvmlReturn) = nullptr;
};

}  // namespace

std::unique_ptr<NvmlDriver> open_nvml() {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto driver = std::make_unique<LoadedNvml>(library);
  if (!driver->start()) return nullptr;
  return driver;
}

}  // namespace ringside

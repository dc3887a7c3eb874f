#include "engine/cuda/gpu.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "engine/cuda/gpu_queue.h"
#include "engine/cuda/kernels.h"

namespace ringside {
namespace {

Status check_cuda(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  return Error{ErrorCode::System, fmt::format("{}: {}", what, cudaGetErrorString(code)), ""};
}

/// What stands between this process and a GPU.
Error no_gpu(cudaError_t code) {
  int driver = 0;
  const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  if (!has_driver) {
    return {ErrorCode::System, "no NVIDIA driver on this host",
            "install one (libcuda.so.1), or run on a host that has a GPU"};
  }
  if (code == cudaErrorInsufficientDriver) {
    return {ErrorCode::System,
            fmt::format("the driver speaks CUDA {}.{}, this build needs {}.{}", driver / 1000,
                        driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10),
            "install a newer driver"};
  }
  return {ErrorCode::System, fmt::format("no GPU: {}", cudaGetErrorString(code)),
          "run on a host that has one; CUDA_VISIBLE_DEVICES may hide it"};
}

/// The runtime keeps the device that calls mean for each thread, and any rank's thread may launch.
Status use_device(int device) { return check_cuda(cudaSetDevice(device), "cudaSetDevice"); }

/// What cudaHostRegister() takes: the whole pages around some bytes.
std::span<std::byte> whole_pages(std::span<std::byte> bytes) {
  constexpr std::uintptr_t kPage = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::size_t before = begin % kPage;
  return {bytes.data() - before, (before + bytes.size() + kPage - 1) / kPage * kPage};
}

DeviceId id_in(const cudaUUID_t& uuid) {
  DeviceId id{};
  static_assert(sizeof uuid.bytes == sizeof id);
  std::memcpy(id.data(), uuid.bytes, sizeof id);
  return id;
}

/// 0 where processes cannot share its memory (under WSL, say).
DeviceId shared_id(int device, const cudaUUID_t& uuid) {
  int is_shared = 0;
  static_cast<void>(cudaDeviceGetAttribute(&is_shared, cudaDevAttrIpcEventSupport, device));
  return is_shared != 0 ? id_in(uuid) : DeviceId{};
}

class GpuMemory final : public DeviceMemory {
 public:
  GpuMemory(int device, cudaStream_t stream, DeviceId id)
      : device_(device), stream_(stream), id_(id) {}
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() override {
    for (void* const one : opened_) static_cast<void>(cudaIpcCloseMemHandle(one));
    for (void* const one : taken_) static_cast<void>(cudaFree(one));
    for (void* const one : shared_) static_cast<void>(cudaFreeHost(one));
  }

  Result<std::byte*> take(Bytes size) override {
    void* memory = nullptr;
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaMalloc(&memory, size.value + 1), "cudaMalloc"));
    taken_.push_back(memory);
    RINGSIDE_TRY(check_cuda(cudaMemsetAsync(memory, 0, size.value + 1, stream_), "cudaMemset"));
    RINGSIDE_TRY(check_cuda(cudaStreamSynchronize(stream_), "cudaMemset"));
    return static_cast<std::byte*>(memory);
  }

  Result<std::byte*> take_shared(Bytes size) override {
    void* memory = nullptr;
    RINGSIDE_TRY(use_device(device_));
    // With unified addressing one address serves both sides.
    RINGSIDE_TRY(
        check_cuda(cudaHostAlloc(&memory, size.value, cudaHostAllocMapped), "cudaHostAlloc"));
    shared_.push_back(memory);
    std::memset(memory, 0, size.value);
    return static_cast<std::byte*>(memory);
  }

  Status write(std::byte* to, std::span<const std::byte> from) override {
    return move(to, from.data(), from.size(), cudaMemcpyHostToDevice);
  }
  Status read(std::span<std::byte> to, const std::byte* from) override {
    return move(to.data(), from, to.size(), cudaMemcpyDeviceToHost);
  }

  Result<std::int64_t> count_wrong(const std::byte* buffer, const PlaceTable& expected) override {
    constexpr unsigned kBlocks = 256, kThreads = 256;
    if (counter_ == nullptr) {
      RINGSIDE_TRY(counter_, take(Bytes{sizeof(unsigned long long)}));
    }
    unsigned long long wrong = 0;
    RINGSIDE_TRY(write(counter_, std::as_bytes(std::span(&wrong, 1))));
    PlaceTable own = expected;
    void* arguments[] = {&buffer, &own, &counter_};
    RINGSIDE_TRY(check_cuda(cudaLaunchKernel(kernel_that_checks(), dim3(kBlocks), dim3(kThreads),
                                             arguments, 0, stream_),
                            "launching a kernel"));
    RINGSIDE_TRY(read(std::as_writable_bytes(std::span(&wrong, 1)), counter_));
    return static_cast<std::int64_t>(wrong);
  }

  Result<std::byte*> map(std::span<std::byte> pages) override {
    const std::span<std::byte> whole = whole_pages(pages);
    void* first = nullptr;
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaHostRegister(whole.data(), whole.size(),
                                             cudaHostRegisterMapped | cudaHostRegisterPortable),
                            "cudaHostRegister"));
    const Status found =
        check_cuda(cudaHostGetDevicePointer(&first, whole.data(), 0), "cudaHostGetDevicePointer");
    if (!found) {
      unmap(pages);
      return found.error();
    }
    return static_cast<std::byte*>(first) + (pages.data() - whole.data());
  }
  void unmap(std::span<std::byte> pages) noexcept override {
    static_cast<void>(cudaHostUnregister(whole_pages(pages).data()));
  }

  [[nodiscard]] DeviceId id() const override { return id_; }
  [[nodiscard]] bool reaches(const DeviceId& other) const override {
    int count = 0;
    if (other == DeviceId{} || id_ == DeviceId{}) return false;
    if (other == id_) return true;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return false;
    for (int device = 0; device < count; ++device) {
      cudaDeviceProp properties = {};
      int can = 0;
      if (cudaGetDeviceProperties(&properties, device) == cudaSuccess &&
          id_in(properties.uuid) == other) {
        return cudaDeviceCanAccessPeer(&can, device_, device) == cudaSuccess && can != 0;
      }
    }
    return false;
  }
  Result<std::byte*> take_to_share(Bytes size) override {
    // CUDA shares the whole block that it cuts small allocations from, so blocks of 2 MiB are taken whole.
    constexpr std::uint64_t kBlock = 2 << 20;
    return take(Bytes{size.value / kBlock * kBlock + kBlock - 1});
  }
  Result<DeviceHandle> share(std::byte* memory) override {
    cudaIpcMemHandle_t handle = {};
    DeviceHandle bytes{};
    static_assert(sizeof handle == sizeof bytes);
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaIpcGetMemHandle(&handle, memory), "cudaIpcGetMemHandle"));
    std::memcpy(bytes.data(), &handle, sizeof bytes);
    return bytes;
  }
  Result<std::byte*> open(const DeviceHandle& bytes) override {
    cudaIpcMemHandle_t handle = {};
    void* memory = nullptr;
    std::memcpy(&handle, bytes.data(), sizeof handle);
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess),
                            "cudaIpcOpenMemHandle"));
    opened_.push_back(memory);
    return static_cast<std::byte*>(memory);
  }

 private:
  Status move(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaMemcpyAsync(to, from, size, kind, stream_), "cudaMemcpy"));
    return check_cuda(cudaStreamSynchronize(stream_), "cudaMemcpy");
  }

  int device_;
  cudaStream_t stream_;
  const DeviceId id_;
  std::byte* counter_ = nullptr;  ///< of wrong elements; none before they are first counted
  std::vector<void*> taken_, shared_, opened_;
};

class CudaGraph final : public GpuGraph {
 public:
  CudaGraph(cudaGraphExec_t exec, int device, cudaStream_t stream)
      : exec_(exec), device_(device), stream_(stream) {}
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() override { static_cast<void>(cudaGraphExecDestroy(exec_)); }
  Status begin() override {
    RINGSIDE_TRY(use_device(device_));
    return check_cuda(cudaGraphLaunch(exec_, stream_), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t exec_;
  int device_;
  cudaStream_t stream_;
};

class CudaGpu final : public Gpu {
 public:
  CudaGpu(GpuFacts facts, int device, cudaStream_t stream, DeviceId id)
      : facts_(std::move(facts)), device_(device), stream_(stream), memory_(device, stream, id) {}
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;
  ~CudaGpu() override {
    static_cast<void>(cudaStreamSynchronize(stream_));
    queue_.reset();
    if (begin_ != nullptr) static_cast<void>(cudaEventDestroy(begin_));
    if (end_ != nullptr) static_cast<void>(cudaEventDestroy(end_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  Status make_events() {
    RINGSIDE_TRY(queue_, make_gpu_queue(device_, facts_.multiprocessors, stream_));
    RINGSIDE_TRY(check_cuda(cudaEventCreate(&begin_), "cudaEventCreate"));
    return check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
  }

  [[nodiscard]] const GpuFacts& facts() const override { return facts_; }
  DeviceMemory& memory() override { return memory_; }

  Status launch(const DeviceLaunch& launch, Collective collective) override {
    RINGSIDE_TRY(use_device(device_));
    return launch_on_gpu(launch, collective, facts_.multiprocessors, stream_);
  }
  DeviceQueue& queue() override { return *queue_; }

  Status copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    RINGSIDE_TRY(use_device(device_));
    return check_cuda(cudaMemcpyAsync(to, from, bytes.value, cudaMemcpyDeviceToDevice, stream_),
                      "cudaMemcpy");
  }

  Status finish() override { return check_cuda(cudaStreamSynchronize(stream_), "a kernel"); }

  Result<bool> is_idle() override {
    const cudaError_t code = cudaStreamQuery(stream_);
    if (code == cudaErrorNotReady) return false;
    RINGSIDE_TRY(check_cuda(code, "a kernel"));
    return true;
  }
  [[nodiscard]] void* stream() const override { return stream_; }

  Result<std::unique_ptr<GpuGraph>> capture(const std::function<Status()>& work) override {
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
                            "cudaStreamBeginCapture"));
    const Status begun = work();
    cudaGraph_t graph = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(stream_, &graph);
    cudaGraphExec_t exec = nullptr;
    Status made = begun ? check_cuda(ended, "cudaStreamEndCapture") : begun;
    if (made) {
      made = check_cuda(cudaGraphInstantiateWithFlags(&exec, graph, 0), "cudaGraphInstantiate");
    }
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    if (!made) return made.error();
    return std::unique_ptr<GpuGraph>(std::make_unique<CudaGraph>(exec, device_, stream_));
  }

  Result<Seconds> time(const std::function<Status()>& work) override {
    RINGSIDE_TRY(use_device(device_));
    RINGSIDE_TRY(check_cuda(cudaEventRecord(begin_, stream_), "cudaEventRecord"));
    RINGSIDE_TRY(work());
    RINGSIDE_TRY(check_cuda(cudaEventRecord(end_, stream_), "cudaEventRecord"));
    RINGSIDE_TRY(check_cuda(cudaEventSynchronize(end_), "a kernel"));
    float milliseconds = 0;
    RINGSIDE_TRY(check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEvents"));
    return Seconds{static_cast<double>(milliseconds) * 1e-3};
  }

 private:
  GpuFacts facts_;
  int device_;
  cudaStream_t stream_;
  GpuMemory memory_;
  std::unique_ptr<DeviceQueue> queue_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

int Gpu::count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Result<std::unique_ptr<Gpu>> Gpu::open(int device) {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess || count == 0) {
    return no_gpu(counted == cudaSuccess ? cudaErrorNoDevice : counted);
  }
  RINGSIDE_TRY(use_device(device));
  cudaDeviceProp properties = {};
  RINGSIDE_TRY(check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties"));
  GpuFacts facts{.name = properties.name,
                 .major = properties.major,
                 .minor = properties.minor,
                 .multiprocessors = properties.multiProcessorCount,
                 .memory = Bytes{properties.totalGlobalMem}};
  RINGSIDE_TRY(check_cuda(cudaDriverGetVersion(&facts.driver), "cudaDriverGetVersion"));
  RINGSIDE_TRY(check_cuda(cudaRuntimeGetVersion(&facts.runtime), "cudaRuntimeGetVersion"));
  cudaStream_t stream = nullptr;
  RINGSIDE_TRY(
      check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate"));
  auto gpu = std::make_unique<CudaGpu>(std::move(facts), device, stream,
                                       shared_id(device, properties.uuid));
  RINGSIDE_TRY(gpu->make_events());
  return std::unique_ptr<Gpu>(std::move(gpu));
}

}  // namespace ringside

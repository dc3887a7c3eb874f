#include "engine/cuda/gpu/gpu.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "engine/cuda/device/kernel_collective.h"
#include "engine/cuda/gpu/gpu_error.h"
#include "engine/cuda/gpu/gpu_memory.h"
#include "engine/cuda/gpu/gpu_queue.h"
#include "engine/cuda/gpu/gpu_thread.h"
#include "engine/cuda/gpu/kernels.h"

namespace ringside {
namespace {

Result<bool> has_done(cudaStream_t stream, const char* what) {
  const cudaError_t code = cudaStreamQuery(stream);
  if (code == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // CUDA would keep it as the thread's last error
    return false;
  }
  RINGSIDE_TRY(check_cuda(code, what));
  return true;
}

/// Runs each kernel once without work, before any kernel waits for others. CUDA loads a kernel when it is first
/// launched and reserves memory for its threads. Either may wait for kernels that run on the GPU
/// (CUDA_MODULE_LOADING), and these may wait for a rank whose launch is queued behind the load. Also, missing code for
/// this GPU is reported here.
Status load_kernels(int multiprocessors, cudaStream_t stream) {
  for (const Collective collective : kKernelCollectives) {
    DeviceLaunch nothing;
    nothing.places = nothing.channels = nothing.warps = 1;
    RINGSIDE_TRY(launch_on_gpu(nothing, collective, multiprocessors, stream));
  }
  cudaFuncAttributes unused = {};
  RINGSIDE_TRY(
      check_cuda(cudaFuncGetAttributes(&unused, kernel_that_checks()), "loading a kernel"));
  return check_cuda(cudaStreamSynchronize(stream), "an empty kernel");
}

class CudaGraph final : public GpuGraph {
 public:
  CudaGraph(cudaGraphExec_t exec, int device, cudaStream_t stream)
      : exec_(exec), device_(device), stream_(stream) {}
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() override { static_cast<void>(cudaGraphExecDestroy(exec_)); }
  Status begin() override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    return check_cuda(cudaGraphLaunch(exec_, stream_), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t exec_;
  int device_;
  cudaStream_t stream_;
};

class CudaGpu final : public Gpu {
 public:
  CudaGpu(GpuFacts facts, int device, cudaStream_t stream)
      : facts_(std::move(facts)), device_(device), stream_(stream), memory_(device, stream) {}
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;
  ~CudaGpu() override {
    const auto here = OnGpu::device(device_);
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
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    return launch_on_gpu(launch, collective, facts_.multiprocessors, stream_);
  }
  DeviceQueue& queue() override { return *queue_; }

  Status copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    return check_cuda(cudaMemcpyAsync(to, from, bytes.value, cudaMemcpyDeviceToDevice, stream_),
                      "cudaMemcpy");
  }

  Status finish() override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    return check_cuda(cudaStreamSynchronize(stream_), "a kernel");
  }

  Result<bool> is_idle() override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
    return has_done(stream_, "a kernel");
  }
  [[nodiscard]] void* stream() const override { return stream_; }

  Result<std::unique_ptr<GpuGraph>> capture(const std::function<Status()>& work) override {
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
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
    RINGSIDE_TRY(const OnGpu here, OnGpu::device(device_));
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

Result<int> Gpu::current() {
  int device = 0;
  const cudaError_t code = cudaGetDevice(&device);
  if (code != cudaSuccess || count() == 0) return no_gpu(code);
  return device;
}

Status Gpu::set_current(int device) { return check_cuda(cudaSetDevice(device), "cudaSetDevice"); }

Status Gpu::synchronize(DeviceStream stream) {
  return check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.stream)), "a stream");
}

Result<bool> Gpu::is_done(DeviceStream stream) {
  return has_done(static_cast<cudaStream_t>(stream.stream), "a stream");
}

Result<std::unique_ptr<Gpu>> Gpu::open(int device) {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess || count == 0) {
    return no_gpu(counted == cudaSuccess ? cudaErrorNoDevice : counted);
  }
  RINGSIDE_TRY(const OnGpu here, OnGpu::device(device));
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
  auto gpu = std::make_unique<CudaGpu>(std::move(facts), device, stream);
  RINGSIDE_TRY(gpu->make_events());
  RINGSIDE_TRY(load_kernels(properties.multiProcessorCount, stream));
  return std::unique_ptr<Gpu>(std::move(gpu));
}

}  // namespace ringside

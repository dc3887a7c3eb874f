// Tests the C interface of communicators on GPUs, which are fibres here; their streams are threads, and so are the
// ranks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/capi/gpus.h"
#include "ringside/ringside.h"
#include "tests/cuda/fake_queue.h"
#include "tests/cuda/fibre_gpu.h"

namespace ringside {
namespace {

/// Replaces GPUs by fibres as long as the object lives.
class FibreGpus {
 public:
  FibreGpus() {
    gpus_of_process() = {.open = [](int device) -> Result<std::unique_ptr<Gpu>> {
                           return std::unique_ptr<Gpu>(std::make_unique<FibreGpu>(
                               DeviceCompany{.has_others = true, .number = device}));
                         },
                         .current = [] { return Result<int>(0); },
                         .synchronize = [](DeviceStream stream) -> Status {
                           static_cast<FakeStream*>(stream.stream)->synchronize();
                           return {};
                         },
                         .is_done = [](DeviceStream stream) -> Result<bool> {
                           return static_cast<FakeStream*>(stream.stream)->is_idle();
                         }};
  }
  FibreGpus(const FibreGpus&) = delete;
  FibreGpus& operator=(const FibreGpus&) = delete;
  ~FibreGpus() { gpus_of_process() = {}; }
};

void with_gpu_ranks(int nranks, const std::function<void(int rank, rsComm_t comm)>& body) {
  const FibreGpus fibres;
  rsUniqueId id;
  ASSERT_EQ(rsGetUniqueId(&id), rsSuccess) << rsGetLastError(nullptr);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < nranks; ++rank) {
    threads.emplace_back([&, rank] {
      rsConfig_t config = RS_CONFIG_INITIALIZER;
      config.connectTimeout = 20;
      config.opTimeout = 20;
      const std::string device = "cuda:" + std::to_string(rank);
      config.device = device.c_str();
      rsComm_t comm = nullptr;
      ASSERT_EQ(rsCommInitRankConfig(&comm, nranks, id, rank, &config), rsSuccess)
          << rsGetLastError(nullptr);
      body(rank, comm);
    });
  }
  threads.clear();
}

/// As in a program written for NCCL, it fills, reduces and reads on one stream, and waits once.
TEST(CApiOnGpus, CallsTakeTheirTurnOnAStreamOfCudas) {
  with_gpu_ranks(2, [](int rank, rsComm_t comm) {
    FakeStream cuda;
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamWrapCuda(&stream, &cuda), rsSuccess);
    std::vector<std::int32_t> in(1000), sum(1000), all(2000);
    std::latch gate(1);
    std::int32_t seen = 0;
    const auto call = [&] {
      EXPECT_EQ(rsGroupStart(), rsSuccess);
      EXPECT_EQ(rsAllReduce(in.data(), sum.data(), 1000, rsInt32, rsSum, comm, stream), rsSuccess);
      EXPECT_EQ(rsAllGather(in.data(), all.data(), 1000, rsInt32, comm, stream), rsSuccess);
      EXPECT_EQ(rsGroupEnd(), rsSuccess) << rsGetLastError(comm);
    };
    call();  // connects
    cuda.push([&] {
      gate.wait();
      std::ranges::fill(in, 5 + rank);
    });
    call();
    cuda.push([&] { seen = sum[999] + all[1999]; });
    EXPECT_EQ(rsStreamQuery(stream), rsInProgress);
    gate.count_down();
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(rsStreamQuery(stream), rsSuccess);
    EXPECT_EQ(seen, 11 + 6);
    rsResult_t error = rsInternalError;
    EXPECT_EQ(rsCommGetAsyncError(comm, &error), rsSuccess);
    EXPECT_EQ(error, rsSuccess);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    EXPECT_EQ(rsCommFinalize(comm), rsSuccess) << rsGetLastError(comm);
    EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
  });
}

TEST(CApiOnGpus, ACaptureIsRefusedBeforeTheFirstCallAndHoldsTheNext) {
  with_gpu_ranks(2, [](int rank, rsComm_t comm) {
    FakeStream cuda;
    rsStream_t stream = nullptr;
    ASSERT_EQ(rsStreamWrapCuda(&stream, &cuda), rsSuccess);
    std::int32_t value = 1 + rank;
    const auto call = [&] { return rsAllReduce(&value, &value, 1, rsInt32, rsSum, comm, stream); };
    cuda.begin_capture();
    EXPECT_EQ(call(), rsInvalidUsage);
    EXPECT_NE(std::string(rsGetLastError(nullptr)).find("make the call once before"),
              std::string::npos);
    EXPECT_TRUE(cuda.end_capture().empty());
    EXPECT_EQ(call(), rsSuccess);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    cuda.begin_capture();
    EXPECT_EQ(call(), rsSuccess);
    const FakeStream::Graph graph = cuda.end_capture();
    for (int i = 0; i < 3; ++i) cuda.launch(graph);
    EXPECT_EQ(rsStreamSynchronize(stream), rsSuccess);
    EXPECT_EQ(value, 3 * 2 * 2 * 2);
    EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
    EXPECT_EQ(rsCommFinalize(comm), rsSuccess) << rsGetLastError(comm);
    EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
  });
}

// A part opens a GPU again, and uses CUDA's default stream if no stream is named.
TEST(CApiOnGpus, PartsAreOnTheSameGpuAndADefaultStreamIsCudas) {
  with_gpu_ranks(3, [](int rank, rsComm_t comm) {
    rsComm_t part = nullptr;
    ASSERT_EQ(rsCommSplit(comm, rank == 2 ? 1 : 0, rank, &part, nullptr), rsSuccess)
        << rsGetLastError(nullptr);
    std::int32_t value = 1 + rank, sum = 0;
    EXPECT_EQ(rsAllReduce(&value, &sum, 1, rsInt32, rsSum, part, nullptr), rsSuccess)
        << rsGetLastError(part);
    EXPECT_EQ(rsCommFinalize(part), rsSuccess) << rsGetLastError(part);
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(rsCommDestroy(part), rsSuccess);
    EXPECT_EQ(rsCommFinalize(comm), rsSuccess) << rsGetLastError(comm);
    EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
  });
}

rsResult_t init_on(const char* device) {
  rsUniqueId id = {};
  rsConfig_t config = RS_CONFIG_INITIALIZER;
  config.device = device;
  rsComm_t comm = nullptr;
  const rsResult_t made = rsCommInitRankConfig(&comm, 1, id, 0, &config);
  EXPECT_EQ(rsCommDestroy(comm), rsSuccess);  // nothing, where there is none
  return made;
}

TEST(CApiOnGpus, AMissingGpuIsReported) {
  if (Gpu::count() > 0) GTEST_SKIP() << "needs a host without GPUs";
  EXPECT_EQ(init_on("host"), rsSuccess);
  EXPECT_EQ(init_on("cuda"), rsSystemError);
  EXPECT_EQ(init_on("cuda:1"), rsSystemError);
  EXPECT_EQ(init_on("gpu"), rsInvalidArgument);
  EXPECT_NE(std::string(rsGetLastError(nullptr)).find("device gpu; give host, cuda"),
            std::string::npos);
  ::setenv("RINGSIDE_DEVICE", "cuda:x", 1);
  EXPECT_EQ(init_on(nullptr), rsInvalidArgument);
  EXPECT_EQ(init_on("host"), rsSuccess);
  ::unsetenv("RINGSIDE_DEVICE");
  EXPECT_EQ(init_on(nullptr), rsSuccess);
}

TEST(CApiOnGpus, ACudaStreamIsInvalidForHostCommunicators) {
  FakeStream cuda;
  rsStream_t stream = nullptr;
  ASSERT_EQ(rsStreamWrapCuda(&stream, &cuda), rsSuccess);
  rsUniqueId id = {};
  rsComm_t comm = nullptr;
  ASSERT_EQ(rsCommInitRank(&comm, 1, id, 0), rsSuccess);
  std::int32_t value = 1;
  EXPECT_EQ(rsAllReduce(&value, &value, 1, rsInt32, rsSum, comm, stream), rsInvalidUsage);
  EXPECT_EQ(rsStreamDestroy(stream), rsSuccess);
  EXPECT_EQ(rsCommFinalize(comm), rsSuccess);
  EXPECT_EQ(rsCommDestroy(comm), rsSuccess);
}

}  // namespace
}  // namespace ringside

#pragma once

#include <cstdint>

#include "engine/cuda/device/device_steps.h"
#include "engine/cuda/device/pack.h"
#include "engine/cuda/gpu/gpu_block_copy.cuh"
#include "engine/cuda/gpu/gpu_multimem.cuh"
#include "engine/cuda/gpu/kernels.h"

namespace ringside {

/// The machine of CudaPrimitives in a kernel: each thread, which is one lane of its warp, has an object. The block's
/// warps are divided equally among the strands.
///
/// Scope      .sys, because a peer may be another GPU, another process, or the host. Among ranks of one GPU, a release
///            has .gpu scope, which includes both sides and need not wait until the host could see the store
/// Spinning   waits poll with relaxed or acquire loads, which bypass the first-level cache; no thread sleeps, because
///            all blocks of a launch are resident (launch.h)
/// source     PTX ISA 9.0: ld, st, fence, barrier; chapter 8
class GpuMachine {
 public:
  /// This lane's value; the others have theirs.
  template <typename T>
  struct PerLane {
    T value;
    __device__ T& operator[](int) { return value; }
  };
  /// A question costs a read over PCIe, where the host's word lies.
  static constexpr std::uint32_t kLooksPerQuestion = 256;

  __device__ explicit GpuMachine(bool is_one_gpu) : is_one_gpu_(is_one_gpu) {}

  [[nodiscard]] __device__ const DeviceBlock& keep_block(const DeviceBlock& from) const {
    return gpu_block_copy(from);
  }

  /// Divides the warps among the strands of the next call.
  __device__ void begin_work(int /*work*/, int warps_per_strand) {
    warps_ = warps_per_strand;
    strand_ = 0;
    for (warp_ = warp_of_block(); warp_ >= warps_; warp_ -= warps_) ++strand_;
  }

  [[nodiscard]] __device__ int warp_of_block() const { return static_cast<int>(threadIdx.x) / 32; }
  [[nodiscard]] __device__ int strand() const { return strand_; }
  [[nodiscard]] __device__ int warp() const { return warp_; }
  [[nodiscard]] __device__ int warps() const { return warps_; }

  /// Returns the memory of this lane's warp.
  [[nodiscard]] __device__ DeviceWarpMemory& warp_memory() const {
    __shared__ DeviceWarpMemory of_warps[kMostThreadsOfBlock / kLanesOfWarp];
    return of_warps[warp_of_block()];
  }

  /// Runs code in which lanes do not synchronise: each follows its own path, and they reconverge afterwards.
  template <typename Do>
  __device__ void each_lane(Do&& work) {
    work(static_cast<int>(threadIdx.x) % 32);
    __syncwarp();
  }

  template <typename Ask>
  __device__ bool all_lanes(Ask&& ask) {
    return __all_sync(0xFFFFFFFFU, ask(static_cast<int>(threadIdx.x) % 32)) != 0;
  }

  template <typename Ask>
  __device__ std::uint64_t from_first_lane(Ask&& ask) {
    return __shfl_sync(0xFFFFFFFFU, static_cast<unsigned long long>(ask()), 0);
  }

  __device__ void sync_warp() { __syncwarp(); }

  /// A barrier of the strand's warps, which returns whether any of them passed `true`. Barrier 0 is that of
  /// __syncthreads().
  __device__ bool any_in_strand(bool mine) {
    int any = 0;
    asm volatile(
        "{\n"
        "  .reg .pred p, q;\n"
        "  setp.ne.s32 p, %1, 0;\n"
        "  barrier.cta.red.or.pred q, %2, %3, p;\n"
        "  selp.s32 %0, 1, 0, q;\n"
        "}\n"
        : "=r"(any)
        : "r"(static_cast<int>(mine)), "r"(strand() + 1), "r"(warps_ * 32)
        : "memory");
    return any != 0;
  }

  /// A barrier of the block, likewise.
  __device__ bool any_in_block(bool mine) { return __syncthreads_or(mine ? 1 : 0) != 0; }

  // Data accesses: plain loads and stores, between acquire and release. `stored` data is read by peers, `written` data
  // is in this rank's output. A partial pack has 1 to 16 bytes, at any address. Each byte is read once, so it need not
  // stay in the first-level cache.
  [[nodiscard]] __device__ Pack load_pack(const std::byte* from) const {
    const ulonglong2 pack = __ldcg(reinterpret_cast<const ulonglong2*>(from));
    return {pack.x, pack.y};
  }
  [[nodiscard]] __device__ Pack load_part(const std::byte* from, int bytes) const {
    return load_bytes(from, bytes);
  }
  __device__ void store_pack(std::byte* to, const Pack& pack) {
    *reinterpret_cast<Pack*>(to) = pack;
  }
  __device__ void store_part(std::byte* to, const Pack& pack, int bytes) {
    store_bytes(to, pack, bytes);
  }
  __device__ void write_pack(std::byte* to, const Pack& pack) { store_pack(to, pack); }
  __device__ void write_part(std::byte* to, const Pack& pack, int bytes) {
    store_bytes(to, pack, bytes);
  }

  // Accesses the slots of all members of a switch at once, at DeviceEnd::multicast.
  template <std::size_t kPacks>
  __device__ void load_reduced(const DeviceReduction& reduction, const std::byte* from,
                               std::int64_t stride, Pack (&sums)[kPacks]) const {
    gpu_multimem::load_reduced(reduction, from, stride, sums);
  }
  __device__ void multicast_pack(std::byte* to, const Pack& pack) {
    gpu_multimem::multicast_pack(to, pack);
  }
  __device__ void fence_aliases() { gpu_multimem::fence_aliases(); }

  // Transfers 16 bytes per lane in one instruction of the warp: two words, each atomic. That suffices for LL
  // (store_words); LL128 also needs that the 8 lanes of a line store together (store_line).
  [[nodiscard]] __device__ Pack load_line(const std::byte* from) const {
    unsigned long long low = 0, high = 0;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(low), "=l"(high)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return {low, high};
  }
  __device__ void store_words(std::byte* to, const Pack& pack) { store_line(to, pack); }
  __device__ void store_line(std::byte* to, const Pack& pack) {
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
                 "l"(static_cast<unsigned long long>(pack.low)),
                 "l"(static_cast<unsigned long long>(pack.high))
                 : "memory");
  }

  [[nodiscard]] __device__ std::uint64_t load_acquire(const std::uint64_t* from) const {
    unsigned long long value = 0;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return value;
  }
  __device__ void store_release(std::uint64_t* to, std::uint64_t value) {
    // st.release is fence.acq_rel and a relaxed store; with the barrier before it, it covers the stores of the whole
    // strand.
    const std::size_t place = __cvta_generic_to_global(to);
    const auto bits = static_cast<unsigned long long>(value);
    if (is_one_gpu_) {
      asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(place), "l"(bits) : "memory");
    } else {
      asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(place), "l"(bits) : "memory");
    }
  }
  [[nodiscard]] __device__ std::uint32_t load_flag(const std::uint32_t* from) const {
    unsigned value = 0;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return value;
  }

  /// For observers only: it orders nothing.
  __device__ void store_relaxed(std::uint64_t* to, std::uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "l"(static_cast<unsigned long long>(value))
                 : "memory");
  }
  __device__ void store_flag(std::uint32_t* to, std::uint32_t value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(value)
                 : "memory");
  }

  /// Returns the GPU's clock, the same on all of its blocks.
  [[nodiscard]] __device__ std::int64_t now_ns() const {
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return static_cast<std::int64_t>(now);
  }
  __device__ void pause() {}

 private:
  int warps_ = 1, strand_ = 0, warp_ = 0;
  bool is_one_gpu_;
};

}  // namespace ringside

#pragma once

#include <cstdint>

#include "engine/cuda/device/pack.h"

// The operations of a switch for a kernel: loads that it reduces, and stores that it multicasts. Only for sm_90 or
// newer; older GPUs have no multicast addresses, so no call reaches this code.
namespace ringside::gpu_multimem {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900

// .relaxed.sys, because the members are other GPUs; the counters around these accesses order them (move_simple.h).
#define RINGSIDE_LD_REDUCE "multimem.ld_reduce.relaxed.sys.global."

/// Four 32-bit registers: a vector of floats, or of pairs of halves.
#define RINGSIDE_VECTOR_LOAD(name, operation)                              \
  struct name {                                                            \
    __device__ static Pack load(std::size_t from) {                        \
      unsigned a = 0, b = 0, c = 0, d = 0;                                 \
      asm volatile(RINGSIDE_LD_REDUCE operation " {%0, %1, %2, %3}, [%4];" \
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)                    \
                   : "l"(from)                                             \
                   : "memory");                                            \
      return {std::uint64_t{b} << 32 | a, std::uint64_t{d} << 32 | c};     \
    }                                                                      \
  };
RINGSIDE_VECTOR_LOAD(AddFloat, "add.v4.f32")
// acc::f32: the sum is rounded to the element once, not with each addend.
RINGSIDE_VECTOR_LOAD(AddHalf, "add.acc::f32.v4.f16x2")
RINGSIDE_VECTOR_LOAD(MinHalf, "min.v4.f16x2")
RINGSIDE_VECTOR_LOAD(MaxHalf, "max.v4.f16x2")
RINGSIDE_VECTOR_LOAD(AddBfloat, "add.acc::f32.v4.bf16x2")
RINGSIDE_VECTOR_LOAD(MinBfloat, "min.v4.bf16x2")
RINGSIDE_VECTOR_LOAD(MaxBfloat, "max.v4.bf16x2")
#undef RINGSIDE_VECTOR_LOAD

/// Integers and doubles have no vector form.
#define RINGSIDE_WORD_LOAD(name, operation)                                                        \
  struct name {                                                                                    \
    __device__ static std::uint64_t word(std::size_t from) {                                       \
      unsigned long long word = 0;                                                                 \
      asm volatile(RINGSIDE_LD_REDUCE operation " %0, [%1];" : "=l"(word) : "l"(from) : "memory"); \
      return word;                                                                                 \
    }                                                                                              \
    __device__ static Pack load(std::size_t from) { return {word(from), word(from + 8)}; }         \
  };
RINGSIDE_WORD_LOAD(AddWord, "add.u64")
RINGSIDE_WORD_LOAD(MinSigned, "min.s64")
RINGSIDE_WORD_LOAD(MaxSigned, "max.s64")
RINGSIDE_WORD_LOAD(MinUnsigned, "min.u64")
RINGSIDE_WORD_LOAD(MaxUnsigned, "max.u64")
#undef RINGSIDE_WORD_LOAD

struct AddDouble {
  __device__ static std::uint64_t word(std::size_t from) {
    double value = 0;
    asm volatile(RINGSIDE_LD_REDUCE "add.f64 %0, [%1];" : "=d"(value) : "l"(from) : "memory");
    return static_cast<std::uint64_t>(__double_as_longlong(value));
  }
  __device__ static Pack load(std::size_t from) { return {word(from), word(from + 8)}; }
};

#define RINGSIDE_HALF_WORD_LOAD(name, operation)                                                   \
  struct name {                                                                                    \
    __device__ static std::uint64_t half(std::size_t from) {                                       \
      unsigned half = 0;                                                                           \
      asm volatile(RINGSIDE_LD_REDUCE operation " %0, [%1];" : "=r"(half) : "l"(from) : "memory"); \
      return half;                                                                                 \
    }                                                                                              \
    __device__ static Pack load(std::size_t from) {                                                \
      return {half(from + 4) << 32 | half(from), half(from + 12) << 32 | half(from + 8)};          \
    }                                                                                              \
  };
RINGSIDE_HALF_WORD_LOAD(AddHalfWord, "add.u32")
RINGSIDE_HALF_WORD_LOAD(MinSignedHalf, "min.s32")
RINGSIDE_HALF_WORD_LOAD(MaxSignedHalf, "max.s32")
RINGSIDE_HALF_WORD_LOAD(MinUnsignedHalf, "min.u32")
RINGSIDE_HALF_WORD_LOAD(MaxUnsignedHalf, "max.u32")
#undef RINGSIDE_HALF_WORD_LOAD
#undef RINGSIDE_LD_REDUCE

/// Calls visit(load) with the one for these elements, of those that switch_reduces() has.
template <typename Visit>
__device__ void with_load(const DeviceReduction& reduction, Visit&& visit) {
  const auto by_order = [&](auto add, auto least, auto most) {
    if (reduction.between == RedOp::Min) return visit(least);
    if (reduction.between == RedOp::Max) return visit(most);
    visit(add);
  };
  switch (reduction.type) {
    case DataType::Int32:
      return by_order(AddHalfWord{}, MinSignedHalf{}, MaxSignedHalf{});
    case DataType::Uint32:
      return by_order(AddHalfWord{}, MinUnsignedHalf{}, MaxUnsignedHalf{});
    case DataType::Int64:
      return by_order(AddWord{}, MinSigned{}, MaxSigned{});
    case DataType::Uint64:
      return by_order(AddWord{}, MinUnsigned{}, MaxUnsigned{});
    case DataType::Float16:
      return by_order(AddHalf{}, MinHalf{}, MaxHalf{});
    case DataType::Bfloat16:
      return by_order(AddBfloat{}, MinBfloat{}, MaxBfloat{});
    case DataType::Float32:
      return visit(AddFloat{});
    case DataType::Float64:
      return visit(AddDouble{});
    default:
      __trap();  // excluded by cuda_choice.h
  }
}

/// Implements Machine::load_reduced() (cuda_primitives.h).
template <std::size_t kPacks>
__device__ void load_reduced(const DeviceReduction& reduction, const std::byte* from,
                             std::int64_t stride, Pack (&sums)[kPacks]) {
  const std::size_t place = __cvta_generic_to_global(from);
  with_load(reduction, [&](auto load) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) {
      sums[i] = decltype(load)::load(place + i * static_cast<std::size_t>(stride));
    }
  });
}

/// Stores 16 bytes of any type.
__device__ inline void multicast_pack(std::byte* to, const Pack& pack) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(static_cast<unsigned>(pack.low)), "r"(static_cast<unsigned>(pack.low >> 32)),
               "r"(static_cast<unsigned>(pack.high)), "r"(static_cast<unsigned>(pack.high >> 32))
               : "memory");
}

__device__ inline void fence_aliases() { asm volatile("fence.proxy.alias;" ::: "memory"); }

#else

template <std::size_t kPacks>
__device__ void load_reduced(const DeviceReduction& /*reduction*/, const std::byte* /*from*/,
                             std::int64_t /*stride*/, Pack (&/*sums*/)[kPacks]) {
  __trap();
}
__device__ inline void multicast_pack(std::byte* /*to*/, const Pack& /*pack*/) { __trap(); }
__device__ inline void fence_aliases() { __trap(); }

#endif

}  // namespace ringside::gpu_multimem

#include "engine/reduce/kernels.h"

#include <array>
#include <cstring>
#include <vector>

// Highway does not trust GCC before 12.3 with the upper half of multiplications in the portable instruction set. No
// kernel uses that, and tests/reduce also checks that set.
#define HWY_BROKEN_EMU128 0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduce/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Everything down to HWY_AFTER_NAMESPACE is compiled once for each instruction set. An element type is
// a struct with the type of its lane and four operations on vectors of them; an element that no
// instruction set adds (16 and 8 bits of floating point) goes through float32, in the 2 or 4 parts of
// each 32 bits, so that no lane ever moves.
HWY_BEFORE_NAMESPACE();
namespace ringside::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns the smaller or larger of two floating-point values by their bits: -0 is below +0, a number wins over a NaN,
/// and of two NaN the result is the one whose bits below the sign are all set.
/// kTop   bits of the largest magnitude that is not a NaN
template <bool kLarger, auto kTop, class V>
V pick_number(V a, V b) {
  const hn::DFromV<V> d;
  const hn::RebindToSigned<decltype(d)> di;
  using Int = hn::TFromD<decltype(di)>;
  const auto magnitude = hn::Set(di, hwy::LimitsMax<Int>());
  const auto top = hn::Set(di, static_cast<Int>(kTop));
  const auto x = hn::BitCast(di, a);
  const auto y = hn::BitCast(di, b);
  // With all bits except the sign flipped in negative values, integers compare as the values do.
  const auto x_key = hn::Xor(x, hn::And(hn::BroadcastSignBit(x), magnitude));
  const auto y_key = hn::Xor(y, hn::And(hn::BroadcastSignBit(y), magnitude));
  const auto key = kLarger ? hn::Max(x_key, y_key) : hn::Min(x_key, y_key);
  const auto picked = hn::Xor(key, hn::And(hn::BroadcastSignBit(key), magnitude));
  const auto x_is_nan = hn::Gt(hn::And(x, magnitude), top);
  const auto y_is_nan = hn::Gt(hn::And(y, magnitude), top);
  const auto instead_of_x = hn::IfThenElse(y_is_nan, magnitude, y);
  return hn::BitCast(d,
                     hn::IfThenElse(x_is_nan, instead_of_x, hn::IfThenElse(y_is_nan, x, picked)));
}

template <typename T>
struct Integer {
  using Lane = T;
  template <class V>
  static V sum(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static V prod(V a, V b) {
    if constexpr (sizeof(T) > 1) {
      return hn::Mul(a, b);
    } else {  // no instruction set multiplies bytes, so even and odd bytes are multiplied separately
      const hn::DFromV<V> d;
      const hn::Repartition<std::uint16_t, decltype(d)> d16;
      const auto x = hn::BitCast(d16, a);
      const auto y = hn::BitCast(d16, b);
      const auto even = hn::And(hn::Mul(x, y), hn::Set(d16, std::uint16_t{0xFF}));
      const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
      return hn::BitCast(d, hn::Or(even, odd));
    }
  }
  template <class V>
  static V min(V a, V b) {
    return hn::Min(a, b);
  }
  template <class V>
  static V max(V a, V b) {
    return hn::Max(a, b);
  }
};

template <typename T, auto kInfinity>
struct NativeFloat {
  using Lane = T;
  template <class V>
  static V sum(V a, V b) {
    return hn::Add(a, b);
  }
  template <class V>
  static V prod(V a, V b) {
    return hn::Mul(a, b);
  }
  template <class V>
  static V min(V a, V b) {
    return pick_number<false, kInfinity>(a, b);
  }
  template <class V>
  static V max(V a, V b) {
    return pick_number<true, kInfinity>(a, b);
  }
};

/// The conversions of one small format, between float32 and part kPart of a vector of 32-bit lanes.
///
/// In both directions an integer addition adjusts the exponent. Below the smallest normal number that is wrong; there
/// a floating-point addition is used: adding a number whose last bit has the same value as the format's last bit
/// leaves the rounded mantissa in the lowest bits.
template <typename LaneType, int kMantissa, int kBias, int kTop, int kLargestFinite>
struct SmallFormat {
  using Lane = LaneType;
  static constexpr int kBits = 8 * static_cast<int>(sizeof(Lane));
  static constexpr int kTopBits = kTop;  ///< the largest magnitude that is not a NaN
  static constexpr int kShift = 23 - kMantissa;
  static constexpr int kSignShift = 32 - kBits;
  static constexpr int kMagnitude = (1 << (kBits - 1)) - 1;

  template <int kPart, class DI, class VI>
  static auto take(DI di, VI packed) {
    const hn::Repartition<float, DI> df;
    auto code = packed;
    if constexpr (kPart > 0) code = hn::ShiftRight<kPart * kBits>(code);
    const auto magnitude = hn::And(code, hn::Set(di, kMagnitude));
    const auto sign = hn::ShiftLeft<kSignShift>(hn::And(code, hn::Set(di, 1 << (kBits - 1))));
    const auto shifted = hn::ShiftLeft<kShift>(magnitude);
    const auto normal = hn::Add(shifted, hn::Set(di, (127 - kBias) << 23));
    const auto smallest_normal = hn::BitCast(df, hn::Set(di, (128 - kBias) << 23));
    const auto subnormal = hn::BitCast(
        di, hn::Sub(hn::BitCast(df, hn::Add(normal, hn::Set(di, 1 << 23))), smallest_normal));
    auto bits = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 1 << kMantissa)), subnormal, normal);
    bits = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, kLargestFinite)),
                          hn::Or(shifted, hn::Set(di, 0x7F800000)), bits);
    return hn::BitCast(df, hn::Or(bits, sign));
  }

  template <int kPart, class DI, class VF>
  static auto put(DI di, VF value) {
    const hn::Repartition<float, DI> df;
    const hn::RebindToUnsigned<DI> du;
    const auto bits = hn::BitCast(di, value);
    const auto magnitude = hn::And(bits, hn::Set(di, 0x7FFFFFFF));
    const auto sign =
        hn::BitCast(di, hn::ShiftRight<kSignShift>(hn::BitCast(du, hn::Xor(bits, magnitude))));
    // Rounds to nearest, ties to even: adds half of the last place minus one, and one more if that place is odd.
    const auto is_odd = hn::And(hn::ShiftRight<kShift>(magnitude), hn::Set(di, 1));
    const auto round = hn::Set(di, (kBias - 127) * (1 << 23) + (1 << (kShift - 1)) - 1);
    const auto normal = hn::ShiftRight<kShift>(hn::Add(hn::Add(magnitude, round), is_odd));
    const auto magic = hn::Set(di, (128 - kBias + kShift) << 23);
    const auto subnormal = hn::Sub(
        hn::BitCast(di, hn::Add(hn::BitCast(df, magnitude), hn::BitCast(df, magic))), magic);
    auto code =
        hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, (128 - kBias) << 23)), subnormal, normal);
    code = hn::Or(hn::Min(code, hn::Set(di, kTop)), sign);
    code =
        hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, 0x7F800000)), hn::Set(di, kMagnitude), code);
    if constexpr (kPart > 0) code = hn::ShiftLeft<kPart * kBits>(code);
    return code;
  }
};

using FormatE4m3 = SmallFormat<std::uint8_t, 3, 7, 0x7E, 0x7E>;
using FormatE5m2 = SmallFormat<std::uint8_t, 2, 15, 0x7C, 0x7B>;
using FormatHalf = SmallFormat<std::uint16_t, 10, 15, 0x7C00, 0x7BFF>;

/// bfloat16 is the upper half of a float32.
struct FormatBfloat16 {
  using Lane = std::uint16_t;
  static constexpr int kBits = 16;
  static constexpr int kTopBits = 0x7F80;

  template <int kPart, class DI, class VI>
  static auto take(DI di, VI packed) {
    const hn::Repartition<float, DI> df;
    if constexpr (kPart == 0) return hn::BitCast(df, hn::ShiftLeft<16>(packed));
    return hn::BitCast(df, hn::And(packed, hn::Set(di, static_cast<std::int32_t>(0xFFFF0000))));
  }

  template <int kPart, class DI, class VF>
  static auto put(DI di, VF value) {
    const hn::RebindToUnsigned<DI> du;
    const auto bits = hn::BitCast(du, value);
    const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFU)), is_odd);
    const auto code =
        hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), hn::Set(du, 0x7FFF0000U), rounded);
    if constexpr (kPart == 0) return hn::BitCast(di, hn::ShiftRight<16>(code));
    return hn::BitCast(di, hn::And(code, hn::Set(du, 0xFFFF0000U)));
  }
};

struct AddFloats {
  template <class V>
  static V of(V a, V b) {
    return hn::Add(a, b);
  }
};
struct MultiplyFloats {
  template <class V>
  static V of(V a, V b) {
    return hn::Mul(a, b);
  }
};

template <class Format>
struct SmallFloat {
  using Lane = typename Format::Lane;
  template <class V>
  static V sum(V a, V b) {
    return through_float<AddFloats>(a, b);
  }
  template <class V>
  static V prod(V a, V b) {
    return through_float<MultiplyFloats>(a, b);
  }
  template <class V>
  static V min(V a, V b) {
    return pick_number<false, Format::kTopBits>(a, b);
  }
  template <class V>
  static V max(V a, V b) {
    return pick_number<true, Format::kTopBits>(a, b);
  }

 private:
  template <class Op, int kPart, class DI, class VI>
  static VI part(DI di, VI a, VI b) {
    return Format::template put<kPart>(
        di, Op::of(Format::template take<kPart>(di, a), Format::template take<kPart>(di, b)));
  }
  template <class Op, class V>
  static V through_float(V a, V b) {
    const hn::DFromV<V> d;
    const hn::Repartition<std::int32_t, decltype(d)> di;
    const auto x = hn::BitCast(di, a);
    const auto y = hn::BitCast(di, b);
    auto out = hn::Or(part<Op, 0>(di, x, y), part<Op, 1>(di, x, y));
    if constexpr (Format::kBits == 8) {
      out = hn::Or(out, hn::Or(part<Op, 2>(di, x, y), part<Op, 3>(di, x, y)));
    }
    return hn::BitCast(d, out);
  }
};

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
/// Converts with one instruction, with FormatHalf's rounding; only the bits of NaN differ.
struct Half : SmallFloat<FormatHalf> {
  template <class V>
  static V sum(V a, V b) {
    return through_float<AddFloats>(a, b);
  }
  template <class V>
  static V prod(V a, V b) {
    return through_float<MultiplyFloats>(a, b);
  }

 private:
  template <class Op, class DF, class VH>
  static auto narrow(DF df, VH a, VH b) {
    const hn::Rebind<hwy::float16_t, DF> dh;
    const hn::Rebind<std::uint16_t, DF> du;
    const auto wide =
        Op::of(hn::PromoteTo(df, hn::BitCast(dh, a)), hn::PromoteTo(df, hn::BitCast(dh, b)));
    return hn::BitCast(du, hn::DemoteTo(dh, wide));
  }
  template <class Op, class V>
  static V through_float(V a, V b) {
    const hn::DFromV<V> d;
    const hn::Half<decltype(d)> d_half;
    const hn::Rebind<float, decltype(d_half)> df;
    const auto low = narrow<Op>(df, hn::LowerHalf(d_half, a), hn::LowerHalf(d_half, b));
    const auto high = narrow<Op>(df, hn::UpperHalf(d_half, a), hn::UpperHalf(d_half, b));
    const auto code = hn::Combine(d, high, low);
    const hn::RebindToSigned<decltype(d)> di;
    const auto magnitude = hn::And(hn::BitCast(di, code), hn::Set(di, std::int16_t{0x7FFF}));
    const auto is_nan = hn::Gt(magnitude, hn::Set(di, std::int16_t{0x7C00}));
    return hn::IfThenElse(hn::RebindMask(d, is_nan), hn::Set(d, std::uint16_t{0x7FFF}), code);
  }
};
#else
using Half = SmallFloat<FormatHalf>;
#endif

struct Sum {
  template <class E, class V>
  static V of(V a, V b) {
    return E::sum(a, b);
  }
};
struct Prod {
  template <class E, class V>
  static V of(V a, V b) {
    return E::prod(a, b);
  }
};
struct Min {
  template <class E, class V>
  static V of(V a, V b) {
    return E::min(a, b);
  }
};
struct Max {
  template <class E, class V>
  static V of(V a, V b) {
    return E::max(a, b);
  }
};

/// Loops over the elements and applies the operation.
/// kScaled   inputs[0] is first multiplied by the scalar
template <class E, class Op, bool kScaled>
class Loop {
 public:
  using Lane = typename E::Lane;
  using D = hn::ScalableTag<Lane>;
  using V = hn::Vec<D>;

  static void run(const KernelArguments& arguments) {
    const std::size_t bytes = arguments.count * sizeof(Lane);
    if (arguments.inputs.size() == 2 && arguments.outputs.size() == 1) {
      // The most frequent call: with constant counts, the pointers stay in registers.
      const std::array<const std::byte*, 2> inputs{arguments.inputs[0], arguments.inputs[1]};
      const std::array<std::byte*, 1> outputs{arguments.outputs[0]};
      return run(outputs, inputs, bytes, arguments.scalar);
    }
    run(arguments.outputs, arguments.inputs, bytes, arguments.scalar);
  }

 private:
  template <class Outputs, class Inputs>
  static void run(const Outputs& outputs, const Inputs& inputs, std::size_t bytes,
                  std::uint64_t scalar_bits) {
    const D d;
    const std::size_t width = hn::Lanes(d) * sizeof(Lane);
    Lane scalar_lane;
    std::memcpy(&scalar_lane, &scalar_bits, sizeof scalar_lane);
    const V scalar = hn::Set(d, scalar_lane);
    std::size_t at = 0;
    for (; at + 4 * width <= bytes; at += 4 * width) {
      V v0 = first(inputs[0] + at, scalar);
      V v1 = first(inputs[0] + at + width, scalar);
      V v2 = first(inputs[0] + at + 2 * width, scalar);
      V v3 = first(inputs[0] + at + 3 * width, scalar);
      for (std::size_t k = 1; k < inputs.size(); ++k) {
        v0 = Op::template of<E>(v0, load(inputs[k] + at));
        v1 = Op::template of<E>(v1, load(inputs[k] + at + width));
        v2 = Op::template of<E>(v2, load(inputs[k] + at + 2 * width));
        v3 = Op::template of<E>(v3, load(inputs[k] + at + 3 * width));
      }
      for (std::byte* output : outputs) {
        store(v0, output + at);
        store(v1, output + at + width);
        store(v2, output + at + 2 * width);
        store(v3, output + at + 3 * width);
      }
    }
    for (; at < bytes; at += width) {
      const std::size_t part = bytes - at < width ? bytes - at : width;
      V v = first(inputs[0] + at, part, scalar);
      for (std::size_t k = 1; k < inputs.size(); ++k) {
        v = Op::template of<E>(v, load(inputs[k] + at, part));
      }
      for (std::byte* output : outputs) store(v, output + at, part);
    }
  }

  static V load(const std::byte* from) {
    return hn::LoadU(D(), reinterpret_cast<const Lane*>(from));
  }
  static void store(V v, std::byte* to) { hn::StoreU(v, D(), reinterpret_cast<Lane*>(to)); }
  static V first(const std::byte* from, V scalar) {
    return kScaled ? E::prod(load(from), scalar) : load(from);
  }

  // Loads the last, incomplete vector through a buffer, to use the same instructions.
  static V load(const std::byte* from, std::size_t bytes) {
    HWY_ALIGN std::array<Lane, hn::MaxLanes(D())> lanes{};
    std::memcpy(lanes.data(), from, bytes);
    return hn::Load(D(), lanes.data());
  }
  static void store(V v, std::byte* to, std::size_t bytes) {
    HWY_ALIGN std::array<Lane, hn::MaxLanes(D())> lanes;
    hn::Store(v, D(), lanes.data());
    std::memcpy(to, lanes.data(), bytes);
  }
  static V first(const std::byte* from, std::size_t bytes, V scalar) {
    return kScaled ? E::prod(load(from, bytes), scalar) : load(from, bytes);
  }
};

template <class E>
ReduceKernel kernel_of(RedOp op) {
  switch (op) {
    case RedOp::Sum:
    case RedOp::Avg:
      return Loop<E, Sum, false>::run;
    case RedOp::Prod:
      return Loop<E, Prod, false>::run;
    case RedOp::Max:
      return Loop<E, Max, false>::run;
    case RedOp::Min:
      return Loop<E, Min, false>::run;
    case RedOp::PreMulSum:
      return Loop<E, Sum, true>::run;
  }
  return nullptr;
}

}  // namespace

ReduceKernel find_kernel(DataType type, RedOp op) {
  switch (type) {
    case DataType::Int8:
      return kernel_of<Integer<std::int8_t>>(op);
    case DataType::Uint8:
      return kernel_of<Integer<std::uint8_t>>(op);
    case DataType::Int32:
      return kernel_of<Integer<std::int32_t>>(op);
    case DataType::Uint32:
      return kernel_of<Integer<std::uint32_t>>(op);
    case DataType::Int64:
      return kernel_of<Integer<std::int64_t>>(op);
    case DataType::Uint64:
      return kernel_of<Integer<std::uint64_t>>(op);
    case DataType::Float16:
      return kernel_of<Half>(op);
    case DataType::Float32:
      return kernel_of<NativeFloat<float, std::int32_t{0x7F800000}>>(op);
    case DataType::Float64:
      return kernel_of<NativeFloat<double, std::int64_t{0x7FF0000000000000}>>(op);
    case DataType::Bfloat16:
      return kernel_of<SmallFloat<FormatBfloat16>>(op);
    case DataType::Float8E4m3:
      return kernel_of<SmallFloat<FormatE4m3>>(op);
    case DataType::Float8E5m2:
      return kernel_of<SmallFloat<FormatE5m2>>(op);
  }
  return nullptr;
}

}  // namespace ringside::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringside {
namespace {

HWY_EXPORT(find_kernel);

std::vector<KernelSet> make_kernel_sets() {
  std::vector<KernelSet> sets;
  // Highway numbers its instruction sets from the best to the portable one.
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    sets.push_back({hwy::TargetName(target), HWY_DISPATCH_TABLE(find_kernel)[chosen.GetIndex()]});
  }
  return sets;
}

}  // namespace

std::span<const KernelSet> kernel_sets() {
  static const std::vector<KernelSet> sets = make_kernel_sets();
  return sets;
}

}  // namespace ringside
#endif

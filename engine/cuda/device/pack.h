#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cuda/device/device_call.h"
#include "engine/reduce/element_rule.h"

/// Packs of 16 bytes, which a lane loads and stores at once, and the arithmetic on them.
namespace ringside {

#ifdef __CUDACC__
#define RINGSIDE_ANY_MEMORY
#else
#define RINGSIDE_ANY_MEMORY [[gnu::may_alias]]  // whatever type a user's elements have
#endif

/// 16 bytes, which a lane loads and stores by one instruction.
struct alignas(16) RINGSIDE_ANY_MEMORY Pack {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Pack&, const Pack&) = default;
};

using PackWord RINGSIDE_ANY_MEMORY = std::uint64_t;
using PackHalf RINGSIDE_ANY_MEMORY = std::uint32_t;

/// Applies combine(a, b) to each element of two words.
template <typename Bits, typename Combine>
RINGSIDE_HD std::uint64_t by_element(std::uint64_t a, std::uint64_t b, Combine combine) {
  if constexpr (sizeof(Bits) == 8) {
    return combine(a, b);
  } else {
    constexpr int kBits = static_cast<int>(sizeof(Bits)) * 8;
    std::uint64_t word = 0;
    RINGSIDE_UNROLL
    for (int shift = 0; shift < 64; shift += kBits) {
      const Bits element = combine(static_cast<Bits>(a >> shift), static_cast<Bits>(b >> shift));
      word |= static_cast<std::uint64_t>(element) << shift;
    }
    return word;
  }
}

/// Computes sums[i] = sums[i] op others[i]; each element is rounded to its type.
template <std::size_t kPacks, typename Rule>
RINGSIDE_HD void reduce_by(Rule /*type*/, RedOp op, Pack (&sums)[kPacks],
                           const Pack (&others)[kPacks]) {
  using Bits = typename Rule::Bits;
  const auto each = [&](auto combine) {
    RINGSIDE_UNROLL
    for (std::size_t i = 0; i < kPacks; ++i) {
      sums[i].low = by_element<Bits>(sums[i].low, others[i].low, combine);
      sums[i].high = by_element<Bits>(sums[i].high, others[i].high, combine);
    }
  };
  switch (op) {
    case RedOp::Prod:
      return each([](Bits a, Bits b) { return Rule::prod(a, b); });
    case RedOp::Max:
      return each([](Bits a, Bits b) { return Rule::max(a, b); });
    case RedOp::Min:
      return each([](Bits a, Bits b) { return Rule::min(a, b); });
    default:
      return each([](Bits a, Bits b) { return Rule::sum(a, b); });
  }
}

/// One pack, where code size counts for more than a call does.
RINGSIDE_HD_CALL inline Pack reduce_pack(const DeviceReduction& reduction, Pack sum, Pack other) {
  Pack sums[1] = {sum};
  const Pack others[1] = {other};
  with_element_rule(reduction.type,
                    [&](auto rule) { reduce_by(rule, reduction.between, sums, others); });
  return sums[0];
}

/// Reduces several packs of a lane. Sums are computed inline, so that a GPU has all loads in flight together. Other
/// operations, and 8-bit elements, of which a pack has 16, use a function call, to limit code size.
template <std::size_t kPacks>
RINGSIDE_HD void reduce_packs(const DeviceReduction& reduction, Pack (&sums)[kPacks],
                              const Pack (&others)[kPacks]) {
  bool is_done = false;
  if constexpr (kPacks > 1) {
    if (reduction.between == RedOp::Sum) {
      with_element_rule(reduction.type, [&](auto rule) {
        if constexpr (sizeof(typename decltype(rule)::Bits) > 1) {
          reduce_by(rule, RedOp::Sum, sums, others);
          is_done = true;
        }
      });
    }
  }
  if (is_done) return;
  for (std::size_t i = 0; i < kPacks; ++i) sums[i] = reduce_pack(reduction, sums[i], others[i]);
}

/// Applies the pre-operation to own input.
RINGSIDE_HD_CALL inline Pack scaled_pack(const DeviceReduction& reduction, Pack own) {
  with_element_rule(reduction.type, [&](auto rule) {
    using Rule = decltype(rule);
    using Bits = typename Rule::Bits;
    const auto times = [](Bits a, Bits b) { return Rule::prod(a, b); };
    own.low = by_element<Bits>(own.low, reduction.scalar, times);
    own.high = by_element<Bits>(own.high, reduction.scalar, times);
  });
  return own;
}

/// Applies the post-operation to data for an output; only integers have one.
RINGSIDE_HD_CALL inline Pack divided_pack(const DeviceReduction& reduction, Pack sum) {
  with_element_rule(reduction.type, [&](auto rule) {
    using Rule = decltype(rule);
    if constexpr (requires { typename Rule::Value; }) {
      using Bits = typename Rule::Bits;
      const auto divide = [&](Bits value, Bits /*none*/) {
        return static_cast<Bits>(
            divide_element(static_cast<typename Rule::Value>(value), reduction.divisor));
      };
      sum.low = by_element<Bits>(sum.low, 0, divide);
      sum.high = by_element<Bits>(sum.high, 0, divide);
    }
  });
  return sum;
}

/// Loads `bytes` of a user's buffer at any address: 16 or 8 at once if aligned.
/// shape  1 .. 16; the rest of the pack is 0
RINGSIDE_HD inline Pack load_bytes(const std::byte* from, int bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  if (bytes == 16 && address % 16 == 0) return *reinterpret_cast<const Pack*>(from);
  Pack pack;
  if (address % 8 == 0 && bytes % 8 == 0) {
    const auto* words = reinterpret_cast<const PackWord*>(from);
    pack.low = words[0];
    if (bytes == 16) pack.high = words[1];
    return pack;
  }
  const auto put = [&](int at, std::uint64_t part) {
    (at < 8 ? pack.low : pack.high) |= part << (at % 8 * 8);
  };
  if (address % 4 == 0 && bytes % 4 == 0) {
    for (int at = 0; at < bytes; at += 4) {
      put(at, *reinterpret_cast<const PackHalf*>(from + at));
    }
    return pack;
  }
  for (int at = 0; at < bytes; ++at) put(at, static_cast<std::uint64_t>(from[at]));
  return pack;
}

/// Stores the first `bytes` of a pack.  shape  bytes 1 .. 16; no other byte is written
RINGSIDE_HD inline void store_bytes(std::byte* to, const Pack& pack, int bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  if (bytes == 16 && address % 16 == 0) {
    *reinterpret_cast<Pack*>(to) = pack;
    return;
  }
  if (address % 8 == 0 && bytes % 8 == 0) {
    auto* words = reinterpret_cast<PackWord*>(to);
    words[0] = pack.low;
    if (bytes == 16) words[1] = pack.high;
    return;
  }
  const auto get = [&](int at) { return (at < 8 ? pack.low : pack.high) >> (at % 8 * 8); };
  if (address % 4 == 0 && bytes % 4 == 0) {
    for (int at = 0; at < bytes; at += 4) {
      *reinterpret_cast<PackHalf*>(to + at) = static_cast<std::uint32_t>(get(at));
    }
    return;
  }
  for (int at = 0; at < bytes; ++at) to[at] = static_cast<std::byte>(get(at) & 0xFF);
}

}  // namespace ringside

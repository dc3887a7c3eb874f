#pragma once

#include "base/words.h"

namespace ringside {

/// Returns whether a switch supports the operation: multimem.ld_reduce on sm_90. Of 8-bit types it supports only
/// floats, and only on sm_100a; other cases are modelled.
///
/// between  as in DeviceReduction: Sum, Prod, Min or Max. Each rank applies the pre-operation (avg, mulsum) and the
///          post-operation (avg of integers) itself
/// source   PTX ISA 9.0: multimem.ld_reduce. .add .min .max of .s32 .u32 .s64 .u64 .f16x2 .bf16x2, .add of .f32 .f64
RINGSIDE_HD constexpr bool switch_reduces(DataType type, RedOp between) {
  const bool is_order = between == RedOp::Min || between == RedOp::Max;
  switch (type) {
    case DataType::Int32:
    case DataType::Uint32:
    case DataType::Int64:
    case DataType::Uint64:
    case DataType::Float16:
    case DataType::Bfloat16:
      return between == RedOp::Sum || is_order;
    case DataType::Float32:
    case DataType::Float64:
      return between == RedOp::Sum;
    default:
      return false;
  }
}

}  // namespace ringside

#pragma once

#include "base/words.h"

namespace ringside {

/// Whether a switch adds or compares elements so: what multimem.ld_reduce has on sm_90. Of 8 bits it has floats alone,
/// and these on sm_100a only; the modelled reducer does what is left.
///
/// between  as DeviceReduction has it: Sum, Prod, Min or Max. What comes before it (avg, mulsum) and behind it (avg of
///          integers) is each rank's own business
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

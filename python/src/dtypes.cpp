#include "python/src/dtypes.h"

#include <ATen/Functions.h>
#include <torch/version.h>

#include <optional>

namespace ringside::pytorch {
namespace {

std::optional<DataType> data_type(at::ScalarType type) {
  switch (type) {
    case at::kChar:
      return DataType::Int8;
    case at::kByte:
    case at::kBool:
      return DataType::Uint8;
    case at::kInt:
      return DataType::Int32;
    case at::kLong:
      return DataType::Int64;
    case at::kHalf:
      return DataType::Float16;
    case at::kFloat:
      return DataType::Float32;
    case at::kDouble:
      return DataType::Float64;
    case at::kBFloat16:
      return DataType::Bfloat16;
    default:
      return std::nullopt;
  }
}

const char* name_of(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
      return "SUM";
    case c10d::ReduceOp::AVG:
      return "AVG";
    case c10d::ReduceOp::PRODUCT:
      return "PRODUCT";
    case c10d::ReduceOp::MIN:
      return "MIN";
    case c10d::ReduceOp::MAX:
      return "MAX";
    case c10d::ReduceOp::BAND:
      return "BAND";
    case c10d::ReduceOp::BOR:
      return "BOR";
    case c10d::ReduceOp::BXOR:
      return "BXOR";
    case c10d::ReduceOp::PREMUL_SUM:
      return "PREMUL_SUM";
    default:
      return "UNUSED";
  }
}

/// Truth values are 0 and 1: or is their maximum, and is their minimum.
RedOp boolean_op(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::MAX:
    case c10d::ReduceOp::BOR:
      return RedOp::Max;
    case c10d::ReduceOp::PRODUCT:
    case c10d::ReduceOp::MIN:
    case c10d::ReduceOp::BAND:
      return RedOp::Min;
    default:
      TORCH_CHECK(false, "ringside: ReduceOp.", name_of(op),
                  " of torch.bool tensors is not supported; reduce integers instead");
  }
}

RedOp number_op(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
      return RedOp::Sum;
    case c10d::ReduceOp::AVG:
      return RedOp::Avg;
    case c10d::ReduceOp::PRODUCT:
      return RedOp::Prod;
    case c10d::ReduceOp::MIN:
      return RedOp::Min;
    case c10d::ReduceOp::MAX:
      return RedOp::Max;
    case c10d::ReduceOp::PREMUL_SUM:
      return RedOp::PreMulSum;
    default:
      TORCH_CHECK(false, "ringside: ReduceOp.", name_of(op),
                  " is not supported; use SUM, AVG, PRODUCT, MIN, MAX or PREMUL_SUM");
  }
}

at::Tensor factor(const c10d::ReduceOp& op, const at::Tensor& tensor) {
  const auto* const made = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK(made != nullptr, "ringside: ReduceOp.PREMUL_SUM without its factor");
#if TORCH_VERSION_MAJOR >= 2
  const at::Tensor given = made->tensor_factor;
#else
  const at::Tensor given = made->tensor_factors.empty() ? at::Tensor() : made->tensor_factors[0];
#endif
  if (given.defined()) return given.to(tensor.scalar_type()).reshape({-1})[0].contiguous();
  return at::full({1}, made->double_factor, tensor.options());
}

}  // namespace

Moved moved(const at::Tensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.numel());
  if (const auto type = data_type(tensor.scalar_type())) return {*type, count};
  return {DataType::Uint8, count * tensor.element_size()};
}

Reduction reduction(const c10d::ReduceOp& op, const at::Tensor& tensor) {
  const auto type = data_type(tensor.scalar_type());
  TORCH_CHECK(type.has_value(), "ringside: reduction of ", tensor.scalar_type(),
              " tensors is not supported; convert them to a type among int8, uint8, int32, int64, "
              "float16, bfloat16, float32, float64, bool");
  const c10d::ReduceOp::RedOpType kind = op;
  if (tensor.scalar_type() == at::kBool) return {*type, boolean_op(kind), {}};
  Reduction made{*type, number_op(kind), {}};
  if (made.op == RedOp::PreMulSum) made.scalar = factor(op, tensor);
  return made;
}

}  // namespace ringside::pytorch

#include "engine/reduce/reduce_op.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "engine/reduce/element_rule.h"

namespace ringside {
namespace {

/// Divides in the element type: a sum that overflowed is divided as it is. memcpy permits any alignment.
template <typename T>
void divide(std::byte* data, std::size_t count, int divisor) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof value, sizeof value);
    value = divide_element(value, divisor);
    std::memcpy(data + i * sizeof value, &value, sizeof value);
  }
}

Error refused(Algorithm algorithm, DataType type, RedOp op, const char* help) {
  return Error{ErrorCode::InvalidArgument,
               fmt::format("NCCL's {} has no {} of {}", nccl_name(algorithm), to_string(op),
                           to_string(type)),
               help};
}

}  // namespace

void ReduceOp::reduce(std::span<std::byte* const> outputs, std::span<const std::byte* const> inputs,
                      FirstInput first, std::size_t count) const {
  const KernelArguments arguments{outputs, inputs, count, scalar_};
  first == FirstInput::Own ? own_(arguments) : partial_(arguments);
}

void ReduceOp::combine(std::byte* output, const std::byte* a, const std::byte* b, FirstInput first,
                       std::size_t count) const {
  const std::array outputs{output};
  const std::array inputs{a, b};
  reduce(outputs, inputs, first, count);
}

void ReduceOp::finish(std::byte* data, std::size_t count) const {
  if (!has_post_operation()) return;
  switch (type_) {
    case DataType::Int8:
      return divide<std::int8_t>(data, count, divisor_);
    case DataType::Uint8:
      return divide<std::uint8_t>(data, count, divisor_);
    case DataType::Int32:
      return divide<std::int32_t>(data, count, divisor_);
    case DataType::Uint32:
      return divide<std::uint32_t>(data, count, divisor_);
    case DataType::Int64:
      return divide<std::int64_t>(data, count, divisor_);
    case DataType::Uint64:
      return divide<std::uint64_t>(data, count, divisor_);
    default:
      RINGSIDE_ASSERT(false, "{} is scaled before the sum", to_string(type_));
  }
}

Result<ReduceOp> make_reduce_op(DataType type, RedOp op, int nranks,
                                std::optional<ElementBits> scalar) {
  return make_reduce_op(kernel_sets().front(), type, op, nranks, scalar);
}

Result<ReduceOp> make_reduce_op(const KernelSet& kernels, DataType type, RedOp op, int nranks,
                                std::optional<ElementBits> scalar) {
  RINGSIDE_ASSERT(nranks >= 1, "{} ranks", nranks);
  if (scalar.has_value() != (op == RedOp::PreMulSum)) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} {} scalar", to_string(op), scalar ? "takes no" : "needs a"),
                 "a scalar is what mulsum multiplies a rank's input with"};
  }
  ReduceOp made;
  made.type_ = type;
  made.op_ = op;
  made.partial_ = kernels.find(type, op == RedOp::PreMulSum ? RedOp::Sum : op);
  made.own_ = made.partial_;
  if (op == RedOp::PreMulSum) {
    made.own_ = kernels.find(type, RedOp::PreMulSum);
    made.scalar_ = *scalar;
  }
  if (op == RedOp::Avg && is_floating(type)) {
    made.own_ = kernels.find(type, RedOp::PreMulSum);
    made.scalar_ = to_element(type, 1.0 / nranks);
  }
  if (op == RedOp::Avg && !is_floating(type)) made.divisor_ = nranks;
  return made;
}

Status check_reduction(Collective collective, Algorithm algorithm, DataType type, RedOp op) {
  if (!is_reduction(collective) || can_reduce(algorithm, type, op)) return {};
  if (facts_of(algorithm).reductions == Reductions::Unscaled) {
    return refused(algorithm, type, op, "it has sum prod max min; ring has avg and mulsum too");
  }
  return refused(
      algorithm, type, op,
      "it has sum, min, max of int32 uint32 int64 uint64 half bfloat16, and sum of float "
      "and double; ring and tree have every one");
}

}  // namespace ringside

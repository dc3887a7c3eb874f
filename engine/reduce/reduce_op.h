#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/vocabulary.h"
#include "engine/reduce/element.h"
#include "engine/reduce/kernels.h"

namespace ringside {

/// Whether the first input of a reduction is what this rank contributes, or already a partial result.
enum class FirstInput : std::uint8_t { Own, Partial };

/// A reduction of one element type, with what comes before and after it on the way through a collective.
///
/// | op        | pre-operation, on own input | between        | post-operation, on the result |
/// |-----------|-----------------------------|----------------|-------------------------------|
/// | sum, prod | -                           | +, *           | -                             |
/// | min, max  | -                           | minimumNumber, maximumNumber | -               |
/// | avg       | floats: times 1/n           | +              | integers: divided by n        |
/// | mulsum    | times the scalar            | +              | -                             |
///
/// Arithmetic  integers wrap around and divide towards 0. float32 and float64 round each operation once.
///             16 and 8 bits compute in float32 and round each operation to the element: small_float.h.
///             min and max: a NaN gives way to a number, and -0 is below +0.
/// Results     the same bits on every processor and for every count and alignment, but for which NaN a
///             float32 or float64 sum or product gives
/// Threads     any number at a time; nothing is kept
/// source      NCCL: Avg is PreMulSum by 1/n in the element's type on floats and SumPostDiv on integers;
///             min and max as CUDA's fmin and fmax
class ReduceOp {
 public:
  /// outputs[..][i] = inputs[0][i] op inputs[1][i] op ..., left to right; one input is a copy of it.
  /// first   Own: inputs[0] goes through the pre-operation
  /// shape   at least one of each; any alignment and count; an output may be one of the inputs, and
  ///         otherwise overlaps none
  void reduce(std::span<std::byte* const> outputs, std::span<const std::byte* const> inputs,
              FirstInput first, std::size_t count) const;

  /// The same for two inputs and one output.
  void combine(std::byte* output, const std::byte* a, const std::byte* b, FirstInput first,
               std::size_t count) const;

  /// The post-operation, in place, once all inputs are in.
  void finish(std::byte* data, std::size_t count) const;

  [[nodiscard]] bool has_pre_operation() const { return own_ != partial_; }
  [[nodiscard]] bool has_post_operation() const { return divisor_ != 0; }
  /// What the pre-operation multiplies own input with, and what the post-operation divides by; 0 without it.
  [[nodiscard]] ElementBits scalar() const { return scalar_; }
  [[nodiscard]] int divisor() const { return divisor_; }
  [[nodiscard]] DataType type() const { return type_; }
  [[nodiscard]] RedOp op() const { return op_; }

 private:
  friend Result<ReduceOp> make_reduce_op(const KernelSet&, DataType, RedOp, int,
                                         std::optional<ElementBits>);
  ReduceOp() = default;

  DataType type_ = DataType::Float32;
  RedOp op_ = RedOp::Sum;
  ReduceKernel own_ = nullptr;
  ReduceKernel partial_ = nullptr;
  ElementBits scalar_ = 0;
  int divisor_ = 0;  ///< 0: nothing is divided
};

/// nranks  of the communicator, >= 1
/// scalar  of PreMulSum, and of it alone: this rank's factor
/// errors  InvalidArgument: a scalar is missing, or is there for another reduction
Result<ReduceOp> make_reduce_op(DataType type, RedOp op, int nranks,
                                std::optional<ElementBits> scalar = {});

/// The same with the kernels of one instruction set.
Result<ReduceOp> make_reduce_op(const KernelSet& kernels, DataType type, RedOp op, int nranks,
                                std::optional<ElementBits> scalar);

/// Whether NCCL has the reduction for the algorithm, and so whether it may be asked for.
/// errors  InvalidArgument: an NVLS sum of this type, a PAT reduce-scatter with avg, ...
/// source  NCCL: NVLS reduces in the switch; PAT has neither pre- nor post-operations
Status check_reduction(Collective collective, Algorithm algorithm, DataType type, RedOp op);

}  // namespace ringside

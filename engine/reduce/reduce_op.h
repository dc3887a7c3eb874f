#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/vocabulary.h"
#include "engine/reduce/element.h"
#include "engine/reduce/kernels.h"

namespace ringside {

/// Whether the first input of a reduction is this rank's own input, or already a partial result.
enum class FirstInput : std::uint8_t { Own, Partial };

/// A reduction of one element type, with the operations before and after it in a collective.
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
///             min and max: a number wins against a NaN, and -0 is below +0.
/// Results     the same bits on every processor and for every count and alignment, except for the NaN bits of a float32
///             or float64 sum or product
/// Threads     any number of threads at a time; it keeps no state
/// source      NCCL: Avg is PreMulSum by 1/n in the element's type on floats and SumPostDiv on integers;
///             min and max as CUDA's fmin and fmax
class ReduceOp {
 public:
  /// outputs[..][i] = inputs[0][i] op inputs[1][i] op ..., left to right; a single input is copied.
  /// first   Own: inputs[0] goes through the pre-operation
  /// shape   at least one of each; any alignment and count; an output may be one of the inputs, and
  ///         otherwise overlaps none
  void reduce(std::span<std::byte* const> outputs, std::span<const std::byte* const> inputs,
              FirstInput first, std::size_t count) const;

  /// Reduces two inputs to one output.
  void combine(std::byte* output, const std::byte* a, const std::byte* b, FirstInput first,
               std::size_t count) const;

  /// Applies the post-operation in place, after all inputs are reduced.
  void finish(std::byte* data, std::size_t count) const;

  [[nodiscard]] bool has_pre_operation() const { return own_ != partial_; }
  [[nodiscard]] bool has_post_operation() const { return divisor_ != 0; }
  /// Return the pre-operation's factor and the post-operation's divisor; 0: there is none.
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

/// Makes a reduction that uses the kernels of the best instruction set of this CPU.
/// nranks  size of the communicator, >= 1
/// scalar  PreMulSum only: this rank's factor
/// errors  InvalidArgument: the scalar is missing, or is set for another reduction
Result<ReduceOp> make_reduce_op(DataType type, RedOp op, int nranks,
                                std::optional<ElementBits> scalar = {});

/// Makes a reduction that uses the kernels of one instruction set.
/// errors  as make_reduce_op() without kernels
Result<ReduceOp> make_reduce_op(const KernelSet& kernels, DataType type, RedOp op, int nranks,
                                std::optional<ElementBits> scalar);

/// Checks that NCCL supports the reduction with the algorithm, so that it may be requested.
/// errors  InvalidArgument: an NVLS sum of this type, a PAT reduce-scatter with avg, ...
/// source  NCCL: NVLS reduces in the switch; PAT has neither pre- nor post-operations
Status check_reduction(Collective collective, Algorithm algorithm, DataType type, RedOp op);

}  // namespace ringside

#pragma once

#include <ATen/core/Tensor.h>
#include <ringside/communicator.h>

#include <cstddef>
#include <torch/csrc/distributed/c10d/Types.hpp>

/// PyTorch's element types and reductions in ringside's words.

namespace ringside::pytorch {

/// The elements of a tensor for a call that only moves them: any type is moved, as bytes if need be.
struct Moved {
  DataType type = DataType::Uint8;
  std::size_t count = 0;
};
Moved moved(const at::Tensor& tensor);

/// A reduction of tensors of one type.
struct Reduction {
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  at::Tensor scalar = {};  ///< of PREMUL_SUM: one element of the type, in memory of the host
};

/// errors  throws c10::Error that names the type or the operation, if ringside does not have it
Reduction reduction(const c10d::ReduceOp& op, const at::Tensor& tensor);

}  // namespace ringside::pytorch

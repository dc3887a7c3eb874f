#pragma once

#include "harness/scenario/megatron_layout.h"
#include "harness/scenario/training.h"
#include "harness/scenario/workload.h"

namespace ringside::workload {

/// Bytes that one GPU needs in a training step, of mixed precision: weights and activations in bfloat16.
///
/// Not counted: the CUDA context, NCCL's buffers, fragmentation, temporary buffers of kernels. A GPU's memory is therefore
/// taken as the data sheet's gigabytes of 10^9 bytes, which leaves about 7 % of the memory that a driver reports for them.
///
/// source  Rajbhandari et al. 2020, ZeRO, 3.1: 2 bytes of weights, 12 bytes of Adam's states and master weights a weight.
///         Megatron Core, distributed optimizer: 6 + 12 / replicas bytes a weight with gradients in float.
///         Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models, 4 and appendix B:
///         activations. Attention's scores are not stored (Dao et al. 2022, FlashAttention), and there is no dropout.

/// The stage that needs most, of workload megatron or moe.
MemoryNeed memory_of(const Training& training, const MegatronLayout& layout);

/// Every rank holds the whole model.
MemoryNeed memory_of_ddp(const Training& training);

/// States are sharded over `data` ranks. Gathered are two layers, or with `reshards` false all of them, and always both
/// embeddings.
/// source  PyTorch's FSDP: the root unit is not resharded after forward, and the next layer is gathered ahead
MemoryNeed memory_of_fsdp(const Training& training, int data, bool reshards);

}  // namespace ringside::workload

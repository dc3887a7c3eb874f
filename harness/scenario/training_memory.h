#pragma once

#include "harness/scenario/megatron_layout.h"
#include "harness/scenario/training.h"
#include "harness/scenario/workload.h"

namespace ringside::workload {

/// Memory that one GPU needs for a mixed-precision training step: weights and activations in
/// bfloat16.
///
/// The CUDA context, NCCL's buffers, fragmentation and temporary buffers are not counted. Therefore
/// a GPU's memory is taken as the data sheet's gigabytes of 10^9 bytes: about 7 % less than a
/// driver reports.
///
/// source  Rajbhandari et al. 2020, ZeRO, 3.1: 2 bytes of weights, 12 bytes of Adam's states and master weights a weight.
///         Megatron Core, distributed optimizer: 6 + 12 / replicas bytes a weight with gradients in float.
///         Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models, 4 and appendix B:
///         activations. Attention's scores are not stored (Dao et al. 2022, FlashAttention), and there is no dropout.

/// Returns the need of the stage that needs most, for workload megatron or moe.
MemoryNeed memory_of(const Training& training, const MegatronLayout& layout);

/// Returns the need if every rank holds the whole model.
MemoryNeed memory_of_ddp(const Training& training);

/// Returns the need if states are sharded over `data` ranks. Two layers (with `reshards` false:
/// all) and both embeddings are gathered at a time.
/// source  PyTorch's FSDP: the root unit is not resharded after forward, and the next layer is gathered ahead
MemoryNeed memory_of_fsdp(const Training& training, int data, bool reshards);

}  // namespace ringside::workload

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/vocabulary.h"
#include "harness/scenario/workload.h"
#include "harness/scenario/workload_keys.h"
#include "ringside/units.h"

namespace ringside::workload {

/// The performance of a GPU.
struct Gpu {
  double flops = 0;             ///< per second: peak times achieved efficiency
  double bytes_per_second = 0;  ///< memory bandwidth as published; 0: not needed
  std::string_view name = {};
  double peak_flops = 0;
  double memory = 0;  ///< bytes; 0: unknown
};

/// errors  InvalidArgument: unknown `gpu`; both `gpu` and `gpu_tflops` missing; `efficiency`
///         missing
Result<Gpu> read_gpu(const Keys& keys);

/// Reads the model, given by name or by numbers.
/// has_experts  layers may have experts
/// errors       InvalidArgument: unknown model, or a key is missing or out of range
Result<TransformerShape> read_model(const Keys& keys, bool has_experts);

/// Return the keys of read_model() and read_gpu(), and the additional keys of a model with experts.
std::span<const std::string_view> model_keys();
std::span<const std::string_view> expert_keys();
std::span<const std::string_view> gpu_keys();

/// A model, its batch size and its GPU.
struct Training {
  TransformerShape model;
  int sequence = 0;  ///< tokens
  int batch = 0;     ///< sequences that a GPU or pipeline processes at once
  double flops = 0;  ///< achieved FLOP/s of a GPU
  Gpu gpu = {};
  double optimizer_bytes = 12;  ///< bytes of optimizer states and master weights per weight
  bool checks_memory = true;
  DataType gradients = DataType::Float32;
  /// Activations are discarded and recomputed before the backward pass.
  bool recomputes = false;

  [[nodiscard]] double backward_times() const { return recomputes ? 3 : 2; }
  [[nodiscard]] double tokens() const { return static_cast<double>(sequence) * batch; }

  /// Returns the forward operations of one layer's attention. Each weight takes a multiplication and an addition per
  /// token; attention takes both twice (scores, values) for each pair of tokens and channel, half of which the causal
  /// mask removes.
  /// source  Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2021,
  ///         appendix
  [[nodiscard]] double attention_flops() const;
  /// Returns the part of attention_flops() for pairs of tokens, without weights.
  [[nodiscard]] double score_flops() const;
  /// Returns the forward operations of a layer without experts.
  [[nodiscard]] double layer_flops() const;
  /// Returns the forward operations of all layers and of the output embedding.
  [[nodiscard]] double model_flops() const;
  /// Returns the forward operations of the output embedding.
  [[nodiscard]] double head_flops() const;
  [[nodiscard]] Nanoseconds time_of(double work) const {
    return std::chrono::round<Nanoseconds>(Seconds{work / flops});
  }
  [[nodiscard]] std::int64_t activations() const {
    return static_cast<std::int64_t>(tokens()) * model.hidden;
  }
};

/// Returns the keys in addition to those of the model and the GPU.
std::span<const std::string_view> training_keys();

/// Reads the keys of the model, the GPU and training.
/// errors  InvalidArgument: a key is missing or out of range, or a combination is invalid
Result<Training> read_training(const Keys& keys, bool has_experts = false);

}  // namespace ringside::workload

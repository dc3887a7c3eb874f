#include "harness/scenario/training.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.h"
#include "engine/topology/device_models.h"

namespace ringside::workload {
namespace {

/// source  NVIDIA's data sheet of each GPU (SXM): dense bf16, without sparsity; memory bandwidth
struct GpuRate {
  std::string_view name;
  double tflops;
  double memory_gbs;
  /// For gpu_memory_gb(); that of the larger model if there are two (V100, A100).
  std::uint16_t device_id;
};
constexpr std::array kGpus{
    GpuRate{"v100", 125, 900, 0x1db5},   GpuRate{"a100", 312, 2039, 0x20b2},
    GpuRate{"h100", 989, 3350, 0x2330},  GpuRate{"h200", 989, 4800, 0x2335},
    GpuRate{"b200", 2250, 8000, 0x2901}, GpuRate{"gb200", 2500, 8000, 0x2941}};

constexpr std::array<std::string_view, 8> kModelKeys{
    "model", "layers", "hidden", "heads", "kv_heads", "ffn", "matrices", "vocabulary"};
constexpr std::array<std::string_view, 5> kExpertKeys{"experts", "top_k", "expert_ffn",
                                                      "shared_experts", "dense_layers"};
constexpr std::array<std::string_view, 3> kGpuKeys{"gpu", "gpu_tflops", "efficiency"};
constexpr std::array<std::string_view, 7> kTrainingKeys{
    "sequence",        "batch",         "gradients",   "recompute",
    "optimizer_bytes", "gpu_memory_gb", "check_memory"};

Status read_experts(const Keys& keys, TransformerShape& model) {
  constexpr int kMost = 1 << 16;
  RINGSIDE_TRY(model.experts, keys.whole("experts", std::nullopt, 2, kMost));
  RINGSIDE_TRY(model.top_k, keys.whole("top_k", std::nullopt, 1, model.experts));
  RINGSIDE_TRY(model.expert_ffn, keys.whole("expert_ffn", model.ffn, 1, 1 << 24));
  RINGSIDE_TRY(model.shared_experts, keys.whole("shared_experts", 0, 0, kMost));
  RINGSIDE_TRY(model.dense_layers, keys.whole("dense_layers", 0, 0, model.layers - 1));
  return {};
}

Result<TransformerShape> read_numbers(const Keys& keys, bool has_experts) {
  if (!keys.has("layers")) {
    return keys.bad("model", "key 'model' is missing",
                    "such as llama3-70b; or layers, hidden, heads, vocabulary");
  }
  TransformerShape model{.name = "by numbers", .source = "given"};
  RINGSIDE_TRY(model.layers, keys.whole("layers", std::nullopt, 1, 10000));
  RINGSIDE_TRY(model.hidden, keys.whole("hidden", std::nullopt, 1, 1 << 20));
  RINGSIDE_TRY(model.heads, keys.whole("heads", std::nullopt, 1, 1 << 20));
  RINGSIDE_TRY(model.kv_heads, keys.whole("kv_heads", model.heads, 1, model.heads));
  RINGSIDE_TRY(model.ffn, keys.whole("ffn", 4 * model.hidden, 1, 1 << 24));
  RINGSIDE_TRY(model.matrices, keys.whole("matrices", 2, 2, 3));
  RINGSIDE_TRY(model.vocabulary, keys.whole("vocabulary", std::nullopt, 1, 1 << 24));
  if (has_experts) RINGSIDE_TRY(read_experts(keys, model));
  return model;
}

}  // namespace

std::span<const std::string_view> model_keys() { return kModelKeys; }
std::span<const std::string_view> expert_keys() { return kExpertKeys; }
std::span<const std::string_view> gpu_keys() { return kGpuKeys; }
std::span<const std::string_view> training_keys() { return kTrainingKeys; }

Result<Gpu> read_gpu(const Keys& keys) {
  Gpu gpu;
  double peak = 0;
  if (const std::string* const name = keys.find("gpu"); name != nullptr) {
    const auto found = std::ranges::find(kGpus, *name, &GpuRate::name);
    if (found == kGpus.end()) {
      std::vector<std::string_view> names;
      for (const GpuRate& one : kGpus) names.push_back(one.name);
      return keys.bad_value("gpu", suggestion(*name, names) + ", or gpu_tflops");
    }
    peak = found->tflops;
    gpu.bytes_per_second = found->memory_gbs * 1e9;
    gpu.memory = gpu_memory_gb(found->device_id) * 1e9;
    gpu.name = found->name;
  } else {
    if (!keys.has("gpu_tflops")) {
      return keys.bad("", "key 'gpu' is missing, and the hosts have no GPU whose rate is known",
                      "such as gpu: h100; or gpu_tflops, its dense bfloat16 peak");
    }
    RINGSIDE_TRY(peak, keys.number("gpu_tflops", std::nullopt, 0.001, 1e6));
  }
  RINGSIDE_TRY(const double efficiency, keys.number("efficiency", std::nullopt, 0.001, 1));
  gpu.peak_flops = peak * 1e12;
  gpu.flops = gpu.peak_flops * efficiency;
  return gpu;
}

Result<TransformerShape> read_model(const Keys& keys, bool has_experts) {
  if (!keys.has("model")) return read_numbers(keys, has_experts);
  RINGSIDE_TRY(keys.lacks(std::span(kModelKeys).subspan(1), "leave it out, or the model's name"));
  RINGSIDE_TRY(keys.lacks(kExpertKeys, "leave it out, or the model's name"));
  const auto model = find_transformer(*keys.find("model"));
  if (!model) return keys.bad("model", model.error().message, model.error().help);
  if ((model->experts > 0) != has_experts) {
    return keys.bad_value("model", has_experts ? "it has no experts: take another one, or megatron"
                                               : "it is made of experts: workload moe has those");
  }
  return *model;
}

double Training::score_flops() const { return tokens() * 2.0 * sequence * model.score_width(); }

double Training::attention_flops() const {
  return tokens() * 2 * model.attention_weights() + score_flops();
}

double Training::layer_flops() const {
  return attention_flops() + tokens() * 2 * model.feed_forward_weights();
}

double Training::model_flops() const {
  const int dense = model.experts > 0 ? model.dense_layers : model.layers;
  const double of_expert_layer =
      score_flops() +
      tokens() * 2 * (model.common_weights() + model.top_k * model.expert_weights());
  return dense * layer_flops() + (model.layers - dense) * of_expert_layer + head_flops();
}

double Training::head_flops() const { return tokens() * 2.0 * model.vocabulary * model.hidden; }

Result<Training> read_training(const Keys& keys, bool has_experts) {
  Training training;
  RINGSIDE_TRY(training.model, read_model(keys, has_experts));
  RINGSIDE_TRY(training.recomputes, keys.yes("recompute", false));
  RINGSIDE_TRY(training.sequence, keys.whole("sequence", 4096, 1, 1 << 24));
  RINGSIDE_TRY(training.batch, keys.whole("batch", 1, 1, 1 << 16));
  RINGSIDE_TRY(training.gpu, read_gpu(keys));
  training.flops = training.gpu.flops;
  if (keys.has("gpu_memory_gb")) {
    RINGSIDE_TRY(const double memory, keys.number("gpu_memory_gb", std::nullopt, 0.001, 1e6));
    training.gpu.memory = memory * 1e9;
  }
  RINGSIDE_TRY(training.optimizer_bytes, keys.number("optimizer_bytes", 12, 0, 64));
  RINGSIDE_TRY(training.checks_memory, keys.yes("check_memory", true));
  RINGSIDE_TRY(training.gradients, keys.type("gradients", DataType::Float32));
  return training;
}

}  // namespace ringside::workload

namespace ringside {

std::string_view training_gpu_name(std::uint16_t device_id) {
  const auto model = gpu_model(device_id);
  for (const workload::GpuRate& one : workload::kGpus) {
    const auto known = gpu_model(one.device_id);
    if (one.device_id == device_id || (model && known && model->name == known->name)) {
      return one.name;
    }
  }
  return {};
}

}  // namespace ringside

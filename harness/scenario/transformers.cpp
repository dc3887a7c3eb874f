#include <array>

#include "base/suggest.h"
#include "harness/scenario/workload.h"

namespace ringside {
namespace {

constexpr std::array kTransformers{
    TransformerShape{
        .name = "gpt3-175b",
        .layers = 96,
        .hidden = 12288,
        .heads = 96,
        .kv_heads = 96,
        .ffn = 49152,
        .matrices = 2,
        .vocabulary = 51200,
        .source = "Brown et al. 2020, table 2.1; vocabulary padded as Megatron-LM does"},
    TransformerShape{.name = "llama2-7b",
                     .layers = 32,
                     .hidden = 4096,
                     .heads = 32,
                     .kv_heads = 32,
                     .ffn = 11008,
                     .matrices = 3,
                     .vocabulary = 32000,
                     .source = "Touvron et al. 2023, and its published configuration"},
    TransformerShape{.name = "llama2-70b",
                     .layers = 80,
                     .hidden = 8192,
                     .heads = 64,
                     .kv_heads = 8,
                     .ffn = 28672,
                     .matrices = 3,
                     .vocabulary = 32000,
                     .source = "Touvron et al. 2023, and its published configuration"},
    TransformerShape{.name = "llama3-8b",
                     .layers = 32,
                     .hidden = 4096,
                     .heads = 32,
                     .kv_heads = 8,
                     .ffn = 14336,
                     .matrices = 3,
                     .vocabulary = 128256,
                     .source = "Grattafiori et al. 2024, table 3"},
    TransformerShape{.name = "llama3-70b",
                     .layers = 80,
                     .hidden = 8192,
                     .heads = 64,
                     .kv_heads = 8,
                     .ffn = 28672,
                     .matrices = 3,
                     .vocabulary = 128256,
                     .source = "Grattafiori et al. 2024, table 3"},
    TransformerShape{.name = "llama3-405b",
                     .layers = 126,
                     .hidden = 16384,
                     .heads = 128,
                     .kv_heads = 8,
                     .ffn = 53248,
                     .matrices = 3,
                     .vocabulary = 128256,
                     .source = "Grattafiori et al. 2024, table 3"},
    TransformerShape{.name = "mixtral-8x7b",
                     .layers = 32,
                     .hidden = 4096,
                     .heads = 32,
                     .kv_heads = 8,
                     .ffn = 14336,
                     .matrices = 3,
                     .vocabulary = 32000,
                     .experts = 8,
                     .top_k = 2,
                     .expert_ffn = 14336,
                     .source = "Jiang et al. 2024, Mixtral of Experts, table 1"},
    TransformerShape{.name = "mixtral-8x22b",
                     .layers = 56,
                     .hidden = 6144,
                     .heads = 48,
                     .kv_heads = 8,
                     .ffn = 16384,
                     .matrices = 3,
                     .vocabulary = 32768,
                     .experts = 8,
                     .top_k = 2,
                     .expert_ffn = 16384,
                     .source = "its published configuration"},
    TransformerShape{.name = "dbrx",
                     .layers = 40,
                     .hidden = 6144,
                     .heads = 48,
                     .kv_heads = 8,
                     .ffn = 10752,
                     .matrices = 3,
                     .vocabulary = 100352,
                     .experts = 16,
                     .top_k = 4,
                     .expert_ffn = 10752,
                     .source = "its published configuration"},
    // Latent attention: projects down to 1536 (queries) and 512 + 64 (keys, values), and up to 128 heads of 192 and
    // 128.
    TransformerShape{.name = "deepseek-v3",
                     .layers = 61,
                     .hidden = 7168,
                     .heads = 128,
                     .kv_heads = 128,
                     .ffn = 18432,
                     .matrices = 3,
                     .vocabulary = 129280,
                     .experts = 256,
                     .top_k = 8,
                     .expert_ffn = 2048,
                     .shared_experts = 1,
                     .dense_layers = 3,
                     .attention = 7168.0 * (1536 + 512 + 64) + 1536.0 * 128 * 192 +
                                  512.0 * 128 * 256 + 128.0 * 128 * 7168,
                     .scores = 128 * (192 + 128) / 2,
                     .source = "DeepSeek-AI 2024, DeepSeek-V3 Technical Report, 4.2"},
};

}  // namespace

double TransformerShape::attention_weights() const {
  if (attention > 0) return attention;
  const double h = hidden;
  return 2 * h * h + 2 * h * h * kv_heads / heads;
}

double TransformerShape::key_value_width() const {
  if (attention > 0) return 2.0 * score_width();
  return 2.0 * hidden * kv_heads / heads;
}

double TransformerShape::feed_forward_weights() const {
  return static_cast<double>(matrices) * hidden * ffn;
}

double TransformerShape::layer_weights() const {
  return attention_weights() + feed_forward_weights();
}

double TransformerShape::expert_weights() const {
  return static_cast<double>(matrices) * hidden * expert_ffn;
}

double TransformerShape::common_weights() const {
  return attention_weights() + static_cast<double>(hidden) * experts +
         shared_experts * expert_weights();
}

double TransformerShape::weights_with(int experts_of_layer) const {
  const int dense = experts == 0 ? layers : dense_layers;
  return dense * layer_weights() +
         (layers - dense) * (common_weights() + experts_of_layer * expert_weights()) +
         2.0 * vocabulary * hidden;
}

std::span<const TransformerShape> known_transformers() { return kTransformers; }

Result<TransformerShape> find_transformer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TransformerShape& one : kTransformers) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  return Error{ErrorCode::InvalidArgument, "unknown model '" + std::string(name) + "'",
               suggestion(name, names) +
                   "; or in place of model: layers, hidden, heads, vocabulary (and kv_heads, ffn, "
                   "matrices)"};
}

}  // namespace ringside

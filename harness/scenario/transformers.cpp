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
};

}  // namespace

double TransformerShape::layer_weights() const {
  const double h = hidden;
  const double kv = h * kv_heads / heads;
  return 2 * h * h + 2 * h * kv + static_cast<double>(matrices) * h * ffn;
}

double TransformerShape::weights() const {
  return layers * layer_weights() + 2.0 * vocabulary * hidden;
}

std::span<const TransformerShape> known_transformers() { return kTransformers; }

Result<TransformerShape> find_transformer(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TransformerShape& one : kTransformers) {
    if (one.name == name) return one;
    names.push_back(one.name);
  }
  return Error{ErrorCode::InvalidArgument, "unknown model '" + std::string(name) + "'",
               suggestion(name, names)};
}

}  // namespace ringside

#pragma once

#include <span>
#include <string_view>

/// Product names of GPUs, `NVIDIA A100-SXM4-80GB`, as CUDA, nvidia-smi and benchmarks print them.
namespace ringside::audit {

/// Returns whether the text has these words one after another. Words consist of letters and digits, so `A40` is in
/// `NVIDIA A40-48Q` and not in `NVIDIA RTX A4000`.
///
/// words  separated by blanks; after a final `*` the last word may continue: `SXM*` is in `A100-SXM4-80GB`
/// shape  words has at least one word: every text that is not empty has none
bool names_gpu(std::string_view text, std::string_view words);

/// Returns whether names_gpu() is true for any of these words.
bool names_any_gpu(std::string_view text, std::span<const std::string_view> words);

}  // namespace ringside::audit

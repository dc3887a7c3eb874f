#include "harness/scenario/layout_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "harness/scenario/training.h"
#include "harness/scenario/workload_keys.h"

namespace ringside {
namespace {

using workload::Keys;

/// The sizes of a workload that a layout determines.
struct Split {
  int tensor = 1, pipeline = 1, data = 1;
};

/// The values that all layouts of a workload have in common.
struct Frame {
  std::int64_t ranks = 1;      ///< tensor x pipeline x data
  std::int64_t sequences = 1;  ///< data x microbatches
};

Result<Frame> frame_of(std::string_view kind, const Keys& keys) {
  if (kind != "megatron" && kind != "moe") {
    return keys.bad("", "it has no tensor and pipeline parallel ranks to split",
                    "layout is for megatron and moe");
  }
  RINGSIDE_TRY(const int tensor, keys.whole("tensor", 1, 1, 1024));
  RINGSIDE_TRY(const int pipeline, keys.whole("pipeline", 1, 1, 10000));
  RINGSIDE_TRY(const int data, keys.whole("data", 1, 1, 65536));
  RINGSIDE_TRY(const int microbatches, keys.whole("microbatches", pipeline, 1, 4096));
  return Frame{std::int64_t{tensor} * pipeline * data, std::int64_t{data} * microbatches};
}

std::string text_of(const Split& split) {
  return fmt::format("t{} p{} d{}", split.tensor, split.pipeline, split.data);
}

/// Parses `t8 p4 d16`.
std::optional<Split> parse_split(const std::string& text) {
  std::istringstream words{text};
  Split split;
  for (const auto& [letter, size] :
       {std::pair{'t', &split.tensor}, {'p', &split.pipeline}, {'d', &split.data}}) {
    std::string word;
    words >> word;
    const auto number = word.starts_with(letter) ? parse_int(word.substr(1)) : parse_int("");
    if (!number || *number < 1 || *number > 65536) return std::nullopt;
    *size = static_cast<int>(*number);
  }
  std::string more;
  if (words >> more) return std::nullopt;
  return split;
}

WorkloadKeys keys_with(WorkloadKeys keys, const Split& split, const Frame& frame) {
  keys["tensor"] = std::to_string(split.tensor);
  keys["pipeline"] = std::to_string(split.pipeline);
  keys["data"] = std::to_string(split.data);
  keys["microbatches"] = std::to_string(frame.sequences / split.data);
  // Without pipeline stages or tensor-parallel ranks, these keys have no meaning.
  if (split.pipeline == 1) keys.erase("chunks");
  if (split.pipeline == 1 || split.tensor == 1) keys.erase("scatter_gather");
  return keys;
}

/// Returns the common divisors of all numbers in `of`, ascending.
std::vector<int> divisors(std::initializer_list<std::int64_t> of) {
  std::vector<int> all;
  const std::int64_t least = std::min(of);
  for (int i = 1; i <= least; ++i) {
    bool divides = true;
    for (const std::int64_t number : of) divides = divides && number % i == 0;
    if (divides) all.push_back(i);
  }
  return all;
}

}  // namespace

Result<WorkloadKeys> with_layout(std::string_view kind, const WorkloadKeys& keys,
                                 const std::string& layout, const BadKey& bad) {
  RINGSIDE_TRY(const Frame frame, frame_of(kind, Keys(keys, bad)));
  const auto split = parse_split(layout);
  if (!split) {
    return bad("", fmt::format("layout '{}'", layout),
               "give auto, or tensor, pipeline and data such as 't8 p4 d16'");
  }
  const std::int64_t ranks = std::int64_t{split->tensor} * split->pipeline * split->data;
  if (ranks != frame.ranks) {
    return bad(
        "", fmt::format("layout {}: {} ranks, and the workload has {}", layout, ranks, frame.ranks),
        "tensor x pipeline x data must stay the same");
  }
  if (frame.sequences % split->data != 0) {
    return bad("",
               fmt::format("layout {}: {} replicas do not divide the {} microbatches of a step",
                           layout, split->data, frame.sequences),
               "change microbatches or data of the workload");
  }
  return keys_with(keys, *split, frame);
}

Result<LayoutSearch> find_layouts(std::string_view kind, const WorkloadKeys& keys,
                                  int gpus_per_domain, const BadKey& bad) {
  RINGSIDE_TRY(const Frame frame, frame_of(kind, Keys(keys, bad)));
  RINGSIDE_TRY(const TransformerShape model, workload::read_model(Keys(keys, bad), kind == "moe"));
  LayoutSearch found;
  double least = std::numeric_limits<double>::max();
  std::optional<Error> wrong;
  for (const int tensor : divisors({model.heads, model.kv_heads, gpus_per_domain, frame.ranks})) {
    for (const int pipeline : divisors({model.layers, frame.ranks / tensor})) {
      const std::int64_t data = frame.ranks / tensor / pipeline;
      if (frame.sequences % data != 0) continue;
      const Split split{tensor, pipeline, static_cast<int>(data)};
      WorkloadKeys own = keys_with(keys, split, frame);
      own["check_memory"] = "no";
      const auto facts = training_facts(kind, own, bad);
      if (!facts) {
        if (!wrong) wrong = facts.error();
        continue;
      }
      const double need = (*facts)->memory.total();
      const double memory = (*facts)->gpu_memory;
      if (memory == 0 || need <= memory) {
        found.fitting.push_back(text_of(split));
        continue;
      }
      ++found.too_large;
      if (need >= least) continue;
      least = need;
      found.refusal = fmt::format(
          "no layout fits: the smallest, {}, needs {:.1f} GB a GPU of {:.1f} GB; set "
          "recompute: yes or zero: yes, lower batch or sequence, or take more GPUs",
          text_of(split), need / 1e9, memory / 1e9);
    }
  }
  if (!found.fitting.empty() || found.too_large > 0) return found;
  if (wrong) return *wrong;
  return bad("",
             fmt::format("no split of {} ranks divides the model and {} microbatches", frame.ranks,
                         frame.sequences),
             "change the number of ranks, or microbatches");
}

}  // namespace ringside

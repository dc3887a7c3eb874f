#include "harness/scenario/ddp.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/scenario/step_writer.h"

namespace ringside::workload {
namespace {

constexpr std::array<std::string_view, 3> kDdpKeys{"data", "bucket_cap_mb", "gradient_order"};
constexpr double kMiB = 1 << 20;

/// Adds the gradients of a layer's matrices, from the layer's end to its beginning. The scores of attention precede
/// the values.
void add_layer(const Training& training, std::vector<GradientTensor>& all) {
  const TransformerShape& model = training.model;
  const double hidden = model.hidden;
  const auto add = [&](double elements, double other_flops) {
    all.push_back({elements, 2 * (training.tokens() * 2 * elements + other_flops)});
  };
  const std::size_t first = all.size();
  for (int i = 0; i < model.matrices; ++i) add(hidden * model.ffn, 0);
  add(hidden * hidden, 0);  // matrix of the attention's output
  const double scores = training.tokens() * 2.0 * training.sequence * model.score_width();
  const double kv = hidden * hidden * model.kv_heads / model.heads;
  add(kv, scores);
  add(kv, 0);
  add(hidden * hidden, 0);
  if (training.recomputes) all[first].flops += training.layer_flops();
}

/// Returns whether buckets are filled in the order in which gradients are computed (`backward`, as in DDP from its second
/// step), rather than in the order of the model's parameters (`forward`, an order to compare with; DDP does not use it:
/// its first step has one bucket by default). A bucket is not reduced before the buckets before it.
Result<bool> is_laid_backward(const Keys& keys) {
  const std::string* const order = keys.find("gradient_order");
  if (order == nullptr || *order == "backward") return true;
  if (*order == "forward") return false;
  return keys.bad_value("gradient_order", "backward or forward");
}

}  // namespace

std::vector<GradientTensor> gradients_of(const Training& training) {
  const TransformerShape& model = training.model;
  const double embedding = static_cast<double>(model.vocabulary) * model.hidden;
  std::vector<GradientTensor> all{{embedding, 2 * training.head_flops()}};
  for (int layer = 0; layer < model.layers; ++layer) add_layer(training, all);
  all.push_back({embedding, 0});
  return all;
}

std::vector<std::size_t> bucket_lengths(std::span<const double> sizes, double first, double cap) {
  std::vector<std::size_t> lengths;
  std::size_t length = 0;
  double bytes = 0;
  for (const double size : sizes) {
    ++length;
    bytes += size;
    if (bytes < (lengths.empty() ? first : cap)) continue;
    lengths.push_back(length);
    length = 0;
    bytes = 0;
  }
  if (length > 0) lengths.push_back(length);
  return lengths;
}

Result<hangs::Outline> make_ddp(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  RINGSIDE_TRY(const int data, keys.whole("data", std::nullopt, 1, 65536));
  RINGSIDE_TRY(const double cap_mb, keys.number("bucket_cap_mb", 25, 0.001, 1e6));
  RINGSIDE_TRY(const bool is_backward, is_laid_backward(keys));
  // A given cap also applies to the first bucket.  source  PyTorch 2.6, DistributedDataParallel.__init__; in PyTorch 1.13
  // the first bucket has 1 MiB in any case.
  const double first = keys.has("bucket_cap_mb") ? cap_mb * kMiB : kMiB;
  const std::array dimensions{ParallelDimension{"data", data}};
  StepWriter writer(data, dimensions);
  writer.takes(training.tokens() * data);
  writer.kernel(
      training.time_of(training.model.layers * training.layer_flops() + training.head_flops()));

  const std::vector<GradientTensor> gradients = gradients_of(training);
  const double element = static_cast<double>(size_of(training.gradients).value);
  std::vector<double> sizes;
  for (const GradientTensor& one : gradients) sizes.push_back(one.elements * element);
  if (!is_backward) std::ranges::reverse(sizes);
  const int group = writer.family("data");
  std::size_t made = 0;  // gradients computed so far, in backward order
  std::size_t laid = 0;  // gradients put into buckets so far
  for (const std::size_t length : bucket_lengths(sizes, first, cap_mb * kMiB)) {
    double bytes = 0;
    for (std::size_t i = 0; i < length; ++i) bytes += sizes[laid + i];
    laid += length;
    // In forward order the first bucket contains the last gradients, so all gradients must be computed first.
    const std::size_t needed = is_backward ? laid : gradients.size();
    double flops = 0;
    for (; made < needed; ++made) flops += gradients[made].flops;
    if (flops > 0) writer.kernel(training.time_of(flops));
    writer.call(hangs::Op::AllReduce, group, std::llround(bytes / element), training.gradients,
                true);
  }
  writer.join();
  writer.synchronize();
  return writer.take();
}

std::span<const std::string_view> ddp_keys() { return kDdpKeys; }

}  // namespace ringside::workload

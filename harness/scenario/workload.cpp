#include "harness/scenario/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/suggest.h"
#include "base/text.h"
#include "harness/hangs/outline_yaml.h"

namespace ringside {
namespace {

using hangs::Op;
using hangs::Outline;
using hangs::OutlineStep;
using Kind = OutlineStep::Kind;

/// Dense bf16, without sparsity: NVIDIA's data sheets of each.
struct GpuRate {
  std::string_view name;
  double tflops;
};
constexpr std::array kGpus{GpuRate{"v100", 125}, GpuRate{"a100", 312},  GpuRate{"h100", 989},
                           GpuRate{"h200", 989}, GpuRate{"b200", 2250}, GpuRate{"gb200", 2500}};

/// Values of a workload's keys, each checked.
class Keys {
 public:
  Keys(std::string_view kind, const WorkloadKeys& keys) : kind_(kind), keys_(keys) {}

  [[nodiscard]] Status check(std::span<const std::string_view> known) const {
    for (const auto& [key, value] : keys_) {
      if (std::ranges::find(known, key) == known.end()) {
        return Error{ErrorCode::InvalidArgument, fmt::format("{}: unknown key '{}'", kind_, key),
                     suggestion(key, known)};
      }
    }
    return {};
  }

  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] Result<int> whole(std::string_view key, std::optional<int> usual, int least,
                                  int most) const {
    const std::string* const text = find(key);
    if (text == nullptr && usual) return *usual;
    const auto value = parse_int(text == nullptr ? std::string_view{} : *text);
    if (value && *value >= least && *value <= most) return static_cast<int>(*value);
    return bad(key, text, fmt::format("give {} to {}", least, most));
  }

  [[nodiscard]] Result<double> number(std::string_view key, std::optional<double> usual,
                                      double least, double most) const {
    const std::string* const text = find(key);
    if (text == nullptr && usual) return *usual;
    double value = 0;
    if (text != nullptr) {
      const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
      if (failed == std::errc{} && end == text->data() + text->size() && value >= least &&
          value <= most) {
        return value;
      }
    }
    return bad(key, text, fmt::format("give {:g} to {:g}", least, most));
  }

  [[nodiscard]] Result<bool> yes(std::string_view key, bool usual) const {
    const std::string* const text = find(key);
    if (text == nullptr) return usual;
    if (*text == "yes" || *text == "no") return *text == "yes";
    return bad(key, text, "yes or no");
  }

  [[nodiscard]] Error bad(std::string_view key, const std::string* text,
                          const std::string& help) const {
    return {ErrorCode::InvalidArgument,
            text == nullptr ? fmt::format("{}: key '{}' is missing", kind_, key)
                            : fmt::format("{}: {}: '{}' cannot be meant", kind_, key, *text),
            help};
  }

 private:
  std::string_view kind_;
  const WorkloadKeys& keys_;
};

/// The model, how it is fed, and how fast a GPU computes.
struct Training {
  TransformerShape model;
  int sequence = 0;  ///< tokens
  int batch = 0;     ///< sequences that a GPU, or its pipeline, takes at once
  double flops = 0;  ///< that a GPU does in a second: its peak times what of it is reached
  DataType gradients = DataType::Float32;
  bool recomputes =
      false;  ///< layers' activations are thrown away, and computed again before backward

  [[nodiscard]] double backward_times() const { return recomputes ? 3 : 2; }
  [[nodiscard]] double tokens() const { return static_cast<double>(sequence) * batch; }

  /// Forward of one layer. A weight is multiplied and added once a token; attention does twice (scores, values) a
  /// multiply and an add for each pair of tokens and channel, of which the causal mask leaves half.
  /// source  Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, 2021,
  ///         appendix
  [[nodiscard]] double layer_flops() const {
    return tokens() * (2 * model.layer_weights() + 2.0 * sequence * model.hidden);
  }
  /// Of the output embedding.
  [[nodiscard]] double head_flops() const {
    return tokens() * 2.0 * model.vocabulary * model.hidden;
  }
  [[nodiscard]] Nanoseconds time_of(double work) const {
    return std::chrono::round<Nanoseconds>(Seconds{work / flops});
  }
  [[nodiscard]] std::int64_t activations() const {
    return static_cast<std::int64_t>(tokens()) * model.hidden;
  }
};

constexpr std::array<std::string_view, 15> kModelKeys{
    "model", "layers",     "hidden",     "heads",     "kv_heads",
    "ffn",   "matrices",   "vocabulary", "sequence",  "batch",
    "gpu",   "gpu_tflops", "efficiency", "gradients", "recompute"};

/// By name, or by numbers.
Result<TransformerShape> read_model(const Keys& keys) {
  if (const std::string* const model = keys.find("model"); model != nullptr) {
    for (const char* const number :
         {"layers", "hidden", "heads", "kv_heads", "ffn", "matrices", "vocabulary"}) {
      if (const std::string* const text = keys.find(number); text != nullptr) {
        return keys.bad(number, text, "leave it out, or the model's name");
      }
    }
    return find_transformer(*model);
  }
  if (keys.find("layers") == nullptr) {
    return keys.bad("model", nullptr, "such as llama3-70b; or layers, hidden, heads, vocabulary");
  }
  TransformerShape model{.name = "by numbers", .source = "given"};
  RINGSIDE_TRY(model.layers, keys.whole("layers", std::nullopt, 1, 10000));
  RINGSIDE_TRY(model.hidden, keys.whole("hidden", std::nullopt, 1, 1 << 20));
  RINGSIDE_TRY(model.heads, keys.whole("heads", std::nullopt, 1, 1 << 20));
  RINGSIDE_TRY(model.kv_heads, keys.whole("kv_heads", model.heads, 1, model.heads));
  RINGSIDE_TRY(model.ffn, keys.whole("ffn", 4 * model.hidden, 1, 1 << 24));
  RINGSIDE_TRY(model.matrices, keys.whole("matrices", 2, 2, 3));
  RINGSIDE_TRY(model.vocabulary, keys.whole("vocabulary", std::nullopt, 1, 1 << 24));
  return model;
}

Result<Training> read_training(const Keys& keys) {
  Training training;
  RINGSIDE_TRY(training.model, read_model(keys));
  RINGSIDE_TRY(training.recomputes, keys.yes("recompute", false));
  RINGSIDE_TRY(training.sequence, keys.whole("sequence", 4096, 1, 1 << 24));
  RINGSIDE_TRY(training.batch, keys.whole("batch", 1, 1, 1 << 16));
  double peak = 0;
  if (const std::string* const gpu = keys.find("gpu"); gpu != nullptr) {
    const auto found = std::ranges::find(kGpus, *gpu, &GpuRate::name);
    if (found == kGpus.end()) {
      std::vector<std::string_view> names;
      for (const GpuRate& one : kGpus) names.push_back(one.name);
      return keys.bad("gpu", gpu, suggestion(*gpu, names) + ", or gpu_tflops");
    }
    peak = found->tflops;
  } else {
    RINGSIDE_TRY(peak, keys.number("gpu_tflops", std::nullopt, 0.001, 1e6));
  }
  RINGSIDE_TRY(const double efficiency, keys.number("efficiency", std::nullopt, 0.001, 1));
  training.flops = peak * 1e12 * efficiency;
  if (const std::string* const type = keys.find("gradients"); type != nullptr) {
    RINGSIDE_TRY(training.gradients, parse_data_type(*type));
  }
  return training;
}

/// Puts an outline together, step by step.
class Writer {
 public:
  Writer(int ranks, std::span<const ParallelDimension> dimensions)
      : outline_(hangs::outline_of("training", ranks, std::min(ranks, 8), 2)) {
    add_parallel_groups(dimensions, outline_);
  }

  void trains_on(double tokens) { outline_.tokens = tokens; }

  [[nodiscard]] int family(std::string_view name) const {
    const auto found = std::ranges::find(outline_.families, name, &hangs::Family::name);
    return static_cast<int>(found - outline_.families.begin());
  }

  int copy_family(int family, const char* name) {
    hangs::Family copy = outline_.families[static_cast<std::size_t>(family)];
    copy.name = name;
    copy.desc = name;
    for (char& c : copy.desc) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    copy.desc += "_GROUP";
    outline_.families.push_back(std::move(copy));
    return static_cast<int>(outline_.families.size()) - 1;
  }

  /// From here on steps are those of one rank of each group of the family; none: of all.
  void only(std::optional<OutlineStep::Place> at) { at_ = at; }

  void kernel(Nanoseconds time) {
    OutlineStep step;
    step.kind = Kind::Kernel;
    step.time = time;
    add(step);
  }
  void call(Op op, int family, std::int64_t count, DataType type, bool is_async = false) {
    OutlineStep step;
    step.op = op;
    step.family = family;
    step.count = std::max<std::int64_t>(1, count);
    step.type = type;
    step.async = is_async;
    add(step);
  }
  /// The one end of a transfer that the place of only() has. What follows on the GPU waits for what it receives.
  void transfer(int family, int from, int to, std::int64_t count) {
    OutlineStep step;
    step.kind = Kind::Transfer;
    step.family = family;
    step.from = from;
    step.to = to;
    step.count = count;
    step.type = DataType::Bfloat16;
    step.async = at_ && at_->rank == from;
    add(step);
  }
  void join() {
    OutlineStep step;
    step.kind = Kind::Join;
    add(step);
  }
  /// For the calls of those groups alone.
  void join(int family) {
    OutlineStep step;
    step.kind = Kind::Join;
    step.family = family;
    step.is_of_family = true;
    add(step);
  }
  void synchronize() {
    OutlineStep step;
    step.kind = Kind::Synchronize;
    add(step);
  }
  Outline take() { return std::move(outline_); }

 private:
  void add(OutlineStep step) {
    step.at = at_;
    outline_.steps.push_back(step);
  }
  Outline outline_;
  std::optional<OutlineStep::Place> at_;
};

/// Gradients in the order in which they come, in buckets that are reduced while the next ones are computed.
/// source  PyTorch's DistributedDataParallel: buckets of bucket_cap_mb, the first of 1 MiB, in reverse order
Result<Outline> make_ddp(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  RINGSIDE_TRY(const int data, keys.whole("data", std::nullopt, 1, 65536));
  RINGSIDE_TRY(const double cap, keys.number("bucket_cap_mb", 25, 0.001, 1e6));
  const std::array dimensions{ParallelDimension{"data", data}};
  Writer writer(data, dimensions);
  writer.trains_on(training.tokens() * data);
  const TransformerShape& model = training.model;
  const double forward = model.layers * training.layer_flops() + training.head_flops();
  writer.kernel(training.time_of(forward));
  const double all = model.weights();
  const double element = static_cast<double>(size_of(training.gradients).value);
  double left = all;
  double bucket = (1 << 20) / element;
  while (left > 0) {
    // DDP does not divide a tensor: but layers are far smaller than what is left, or all of it.
    const double some = std::min(left, bucket);
    writer.kernel(training.time_of(training.backward_times() * forward * some / all));
    writer.call(Op::AllReduce, writer.family("data"), std::llround(some), training.gradients, true);
    left -= some;
    bucket = std::max(cap * (1 << 20) / element, all / 4096);
  }
  writer.join();
  writer.synchronize();
  return writer.take();
}

/// Parameters are gathered layer by layer, gradients scattered.
/// source  PyTorch's FSDP, full sharding: all-gather ahead in forward and backward, reduce-scatter behind it
Result<Outline> make_fsdp(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  RINGSIDE_TRY(const int data, keys.whole("data", std::nullopt, 1, 65536));
  const std::array dimensions{ParallelDimension{"data", data}};
  Writer writer(data, dimensions);
  writer.trains_on(training.tokens() * data);
  const TransformerShape& model = training.model;
  const int group = writer.family("data");
  // FSDP reduces on a stream of its own: gathers of the next layers do not wait for it.
  const int scatters = writer.copy_family(group, "data_scatter");
  const auto shard = std::llround(model.layer_weights() / data);
  const auto gather = [&] { writer.call(Op::AllGather, group, shard, DataType::Bfloat16, true); };
  gather();
  for (int layer = 0; layer < model.layers; ++layer) {
    writer.join(group);
    if (layer + 1 < model.layers) gather();  // the next one's while this one computes
    writer.kernel(training.time_of(training.layer_flops()));
  }
  writer.kernel(training.time_of(3 * training.head_flops()));
  gather();
  for (int layer = 0; layer < model.layers; ++layer) {
    writer.join(group);
    if (layer + 1 < model.layers) gather();
    writer.kernel(training.time_of(training.backward_times() * training.layer_flops()));
    writer.call(Op::ReduceScatter, scatters, shard, training.gradients, true);
  }
  writer.join();
  writer.synchronize();
  return writer.take();
}

/// Tensor, pipeline and data parallel.
class Megatron {
 public:
  struct Sizes {
    int tensor = 1, pipeline = 1, data = 1, microbatches = 1;
    bool has_sequence_parallel = false, has_zero = false;
  };
  Megatron(const Training& training, const Sizes& sizes)
      : training_(training),
        sizes_(sizes),
        dimensions_{{"tensor", sizes.tensor}, {"data", sizes.data}, {"pipeline", sizes.pipeline}},
        writer_(sizes.tensor * sizes.data * sizes.pipeline, dimensions_),
        tensor_(writer_.family("tensor")),
        data_(writer_.family("data")),
        pipeline_(writer_.family("pipeline")),
        backward_(writer_.copy_family(pipeline_, "pipeline_backward")) {}

  /// One forward and one backward in turn, once the pipeline is full.
  /// source  Narayanan et al. 2021, 2.2: PipeDream-Flush (1F1B)
  Outline run() {
    writer_.trains_on(training_.tokens() * sizes_.data * sizes_.microbatches);
    for (int stage = 0; stage < sizes_.pipeline; ++stage) {
      writer_.only(OutlineStep::Place{pipeline_, stage});
      const int ahead = std::min(sizes_.pipeline - stage - 1, sizes_.microbatches);
      for (int i = 0; i < ahead; ++i) forward(stage);
      for (int i = ahead; i < sizes_.microbatches; ++i) {
        forward(stage);
        backward(stage);
      }
      for (int i = 0; i < ahead; ++i) backward(stage);
      reduce_gradients(stage);
    }
    writer_.only(std::nullopt);
    writer_.join();
    writer_.synchronize();
    return writer_.take();
  }

 private:
  [[nodiscard]] int layers_of(int stage) const {
    const int layers = training_.model.layers;
    return layers / sizes_.pipeline + (stage < layers % sizes_.pipeline ? 1 : 0);
  }

  /// What crosses between stages.
  [[nodiscard]] std::int64_t passed() const {
    return training_.activations() / (sizes_.has_sequence_parallel ? sizes_.tensor : 1);
  }

  /// Behind attention and behind the feed-forward, forward and backward alike. With sequence parallelism the same bytes
  /// in two halves.
  /// source  Shoeybi et al., Megatron-LM, 2019, 3; Korthikanti et al., Reducing Activation Recomputation, 2022, 4.2
  void reduce_activations() {
    if (sizes_.tensor == 1) return;
    const std::int64_t all = training_.activations();
    if (!sizes_.has_sequence_parallel) {
      writer_.call(Op::AllReduce, tensor_, all, DataType::Bfloat16);
      return;
    }
    writer_.call(Op::ReduceScatter, tensor_, all / sizes_.tensor, DataType::Bfloat16);
    writer_.call(Op::AllGather, tensor_, all / sizes_.tensor, DataType::Bfloat16);
  }

  void layers(int stage, double times) {
    const double half = times * training_.layer_flops() / sizes_.tensor / 2;
    for (int layer = 0; layer < layers_of(stage); ++layer) {
      for (int part = 0; part < 2; ++part) {
        writer_.kernel(training_.time_of(half));
        reduce_activations();
      }
    }
  }

  void forward(int stage) {
    if (stage > 0) writer_.transfer(pipeline_, stage - 1, stage, passed());
    layers(stage, 1);
    if (stage + 1 == sizes_.pipeline) {
      writer_.kernel(training_.time_of(training_.head_flops() / sizes_.tensor));
    } else {
      writer_.transfer(pipeline_, stage, stage + 1, passed());
    }
  }

  /// What goes back has a stream of its own: Megatron-LM posts both directions as one batch.
  void backward(int stage) {
    if (stage + 1 == sizes_.pipeline) {
      writer_.kernel(training_.time_of(2 * training_.head_flops() / sizes_.tensor));
    } else {
      writer_.transfer(backward_, stage + 1, stage, passed());
    }
    if (training_.recomputes) layers(stage, 1);
    layers(stage, 2);
    if (stage > 0) writer_.transfer(backward_, stage, stage - 1, passed());
  }

  void reduce_gradients(int stage) {
    if (sizes_.data == 1) return;
    double weights = layers_of(stage) * training_.model.layer_weights();
    const double embedding =
        static_cast<double>(training_.model.vocabulary) * training_.model.hidden;
    if (stage == 0) weights += embedding;
    if (stage + 1 == sizes_.pipeline) weights += embedding;
    const auto own = std::llround(weights / sizes_.tensor);
    if (!sizes_.has_zero) {
      writer_.call(Op::AllReduce, data_, own, training_.gradients);
      return;
    }
    writer_.call(Op::ReduceScatter, data_, own / sizes_.data, training_.gradients);
    writer_.call(Op::AllGather, data_, own / sizes_.data, DataType::Bfloat16);
  }

  const Training& training_;
  const Sizes sizes_;
  const std::vector<ParallelDimension> dimensions_;
  Writer writer_;
  const int tensor_, data_, pipeline_, backward_;
};

Result<Outline> make_megatron(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  Megatron::Sizes sizes;
  RINGSIDE_TRY(sizes.tensor, keys.whole("tensor", 1, 1, 1024));
  RINGSIDE_TRY(sizes.pipeline, keys.whole("pipeline", 1, 1, training.model.layers));
  RINGSIDE_TRY(sizes.data, keys.whole("data", 1, 1, 65536));
  RINGSIDE_TRY(sizes.microbatches, keys.whole("microbatches", sizes.pipeline, 1, 4096));
  RINGSIDE_TRY(sizes.has_sequence_parallel, keys.yes("sequence_parallel", false));
  RINGSIDE_TRY(sizes.has_zero, keys.yes("zero", false));
  const std::int64_t ranks = std::int64_t{sizes.tensor} * sizes.pipeline * sizes.data;
  if (ranks > 65536 || ranks < 2) {
    return Error{ErrorCode::InvalidArgument, fmt::format("megatron: {} ranks", ranks),
                 "tensor x pipeline x data must be 2 to 65536"};
  }
  constexpr std::int64_t kMostParts = 1 << 18;  // each is some ten steps
  if (std::int64_t{training.model.layers} * sizes.microbatches > kMostParts) {
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("megatron: {} layers x {} microbatches", training.model.layers,
                             sizes.microbatches),
                 fmt::format("give {} of both together at most", kMostParts)};
  }
  return Megatron(training, sizes).run();
}

struct Row {
  TrainingKind kind;
  Result<Outline> (*make)(const Keys& keys);
};

std::vector<std::string_view> with_model(std::initializer_list<std::string_view> more) {
  std::vector<std::string_view> keys(kModelKeys.begin(), kModelKeys.end());
  keys.insert(keys.end(), more);
  return keys;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {{"ddp", "data parallel: buckets of gradients, reduced while the next are computed",
        with_model({"data", "bucket_cap_mb"})},
       make_ddp},
      {{"fsdp", "fully sharded: layers gathered ahead, gradients scattered behind",
        with_model({"data"})},
       make_fsdp},
      {{"megatron", "tensor, pipeline (1F1B) and data parallel",
        with_model({"tensor", "pipeline", "data", "microbatches", "sequence_parallel", "zero"})},
       make_megatron}};
  return all;
}

}  // namespace

void add_parallel_groups(std::span<const ParallelDimension> dimensions, Outline& outline) {
  int stride = 1;
  for (const ParallelDimension& dimension : dimensions) {
    hangs::Family family;
    family.name = dimension.name;
    family.desc = dimension.name;
    for (char& c : family.desc) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    family.desc += "_PARALLEL_GROUP";
    const int block = stride * dimension.size;
    for (int first = 0; first < outline.ranks; first += block) {
      for (int offset = 0; offset < stride; ++offset) {
        std::vector<int> members;
        for (int i = 0; i < dimension.size; ++i) members.push_back(first + offset + i * stride);
        family.members.push_back(std::move(members));
      }
    }
    outline.families.push_back(std::move(family));
    stride = block;
  }
}

std::span<const TrainingKind> training_kinds() {
  static const std::vector<TrainingKind> all = [] {
    std::vector<TrainingKind> kinds;
    for (const Row& row : rows()) kinds.push_back(row.kind);
    return kinds;
  }();
  return all;
}

Result<Outline> make_training(std::string_view kind, const WorkloadKeys& keys) {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) {
    names.push_back(row.kind.name);
    if (row.kind.name != kind) continue;
    const Keys checked(kind, keys);
    RINGSIDE_TRY(checked.check(row.kind.keys));
    return row.make(checked);
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown workload '{}'", kind),
               suggestion(kind, names)};
}

}  // namespace ringside

#include "harness/scenario/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "base/suggest.h"
#include "harness/scenario/ddp.h"
#include "harness/scenario/inference.h"
#include "harness/scenario/megatron.h"
#include "harness/scenario/step_writer.h"
#include "harness/scenario/training.h"
#include "harness/scenario/training_memory.h"

namespace ringside {
namespace workload {
namespace {

using hangs::Op;
using hangs::Outline;

/// Gathers parameters and scatters gradients layer by layer.
/// source  PyTorch's FSDP, full sharding: all-gather before each layer in forward and backward, reduce-scatter after
///         it; without reshard_after_forward (SHARD_GRAD_OP), backward uses the weights gathered in forward.
///         Rajbhandari et al. 2020, ZeRO: stages 3 and 2
Result<Outline> make_fsdp(const Keys& keys) {
  RINGSIDE_TRY(const Training training, read_training(keys));
  RINGSIDE_TRY(const int data, keys.whole("data", std::nullopt, 1, 65536));
  RINGSIDE_TRY(const bool reshards, keys.yes("reshard", true));
  const std::array dimensions{ParallelDimension{"data", data}};
  StepWriter writer(data, dimensions);
  writer.takes(training.tokens() * data);
  const TransformerShape& model = training.model;
  const int group = writer.family("data");
  // FSDP reduces on a separate stream, so gathers of the next layers do not wait for it.
  const int scatters = writer.copy_family(group, "data_scatter");
  const auto shard = std::llround(model.layer_weights() / data);
  const auto gather = [&] { writer.call(Op::AllGather, group, shard, DataType::Bfloat16, true); };
  gather();
  for (int layer = 0; layer < model.layers; ++layer) {
    writer.join(group);
    if (layer + 1 < model.layers) gather();  // gathers the next layer while this one computes
    writer.kernel(training.time_of(training.layer_flops()));
  }
  writer.kernel(training.time_of(3 * training.head_flops()));
  if (reshards) gather();
  for (int layer = 0; layer < model.layers; ++layer) {
    writer.join(group);
    if (reshards && layer + 1 < model.layers) gather();
    writer.kernel(training.time_of(training.backward_times() * training.layer_flops()));
    writer.call(Op::ReduceScatter, scatters, shard, training.gradients, true);
  }
  writer.join();
  writer.synchronize();
  return writer.take();
}

/// The part of TrainingFacts that depends on the kind of training workload.
struct Load {
  Training training;
  MemoryNeed memory;
  double batches = 0;  ///< multiple of Training::tokens() in a step
  std::vector<std::string> notes = {};
};

Result<Load> load_of_ddp(const Keys& keys) {
  Load load;
  RINGSIDE_TRY(load.training, read_training(keys));
  RINGSIDE_TRY(load.batches, keys.whole("data", std::nullopt, 1, 65536));
  load.memory = memory_of_ddp(load.training);
  return load;
}

Result<Load> load_of_fsdp(const Keys& keys) {
  Load load;
  RINGSIDE_TRY(load.training, read_training(keys));
  RINGSIDE_TRY(const int data, keys.whole("data", std::nullopt, 1, 65536));
  RINGSIDE_TRY(const bool reshards, keys.yes("reshard", true));
  load.batches = data;
  load.memory = memory_of_fsdp(load.training, data, reshards);
  return load;
}

Result<Load> load_of_layout(const Keys& keys, bool has_experts) {
  Load load;
  RINGSIDE_TRY(load.training, read_training(keys, has_experts));
  RINGSIDE_TRY(const MegatronLayout layout, read_megatron_layout(keys, load.training));
  load.batches = static_cast<double>(layout.data) * layout.microbatches;
  load.memory = memory_of(load.training, layout);
  const int layers = load.training.model.layers;
  if (layers % layout.parts() != 0) {
    load.notes.push_back(fmt::format(
        "{} layers do not divide by {} {}: some have {} layers, others {}, and a step waits for "
        "the larger ones",
        layers, layout.parts(),
        layout.chunks > 1 ? "chunks (pipeline x chunks)" : "stages of the pipeline",
        layers / layout.parts() + 1, layers / layout.parts()));
  }
  return load;
}
Result<Load> load_of_megatron(const Keys& keys) { return load_of_layout(keys, false); }
Result<Load> load_of_moe(const Keys& keys) { return load_of_layout(keys, true); }

struct Row {
  WorkloadKind kind;
  Result<Outline> (*make)(const Keys& keys);
  Result<Load> (*load)(const Keys& keys);  ///< null: the workload trains nothing
};

std::string gigabytes(double bytes) { return fmt::format("{:.1f}", bytes / 1e9); }

/// Returns how the step could need less memory: keys that this kind of workload has, and that are not set accordingly
/// yet.
std::string memory_help(const WorkloadKind& kind, const Keys& keys) {
  const auto has_key = [&](std::string_view key) {
    return std::ranges::find(kind.keys, key) != kind.keys.end();
  };
  const auto is_set = [&](std::string_view key) {
    const std::string* const value = keys.find(key);
    return value != nullptr && *value == "yes";
  };
  std::vector<std::string> ways;
  if (has_key("tensor")) {
    ways.emplace_back("raise tensor or pipeline (run --vary layout=auto finds what fits)");
  }
  if (has_key("zero")) {
    ways.emplace_back(is_set("zero") ? "zero: yes divides the optimizer only: gradients stay whole"
                                     : "set zero: yes (divides the optimizer, not the gradients)");
  }
  if (kind.name == "ddp") ways.emplace_back("take fsdp in place of ddp");
  if (kind.name == "fsdp") ways.emplace_back("raise data");
  if (!is_set("recompute")) ways.emplace_back("set recompute: yes");
  ways.emplace_back("lower batch or sequence");
  return fmt::format("{}; or check_memory: no simulates it nevertheless", fmt::join(ways, "; "));
}

Status check_memory(const WorkloadKind& kind, const Keys& keys, const TrainingFacts& facts) {
  const MemoryNeed& need = facts.memory;
  if (facts.gpu_memory == 0 || need.total() <= facts.gpu_memory) return {};
  return keys.bad("",
                  fmt::format("a GPU needs {} GB and has {} GB{}: {} for weights, {} for "
                              "gradients, {} for the optimizer, {} for activations",
                              gigabytes(need.total()), gigabytes(facts.gpu_memory),
                              facts.gpu.empty() ? std::string() : " (" + facts.gpu + ")",
                              gigabytes(need.weights), gigabytes(need.gradients),
                              gigabytes(need.optimizer), gigabytes(need.activations)),
                  memory_help(kind, keys));
}

using Words = std::span<const std::string_view>;

std::vector<std::string_view> joined(std::initializer_list<Words> lists) {
  std::vector<std::string_view> all;
  for (const Words& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

constexpr std::array<std::string_view, 2> kFsdpKeys{"data", "reshard"};
constexpr std::array<std::string_view, 10> kMegatronKeys{
    "tensor", "context",      "context_exchange",  "pipeline",       "chunks",
    "data",   "microbatches", "sequence_parallel", "scatter_gather", "zero"};
constexpr std::array<std::string_view, 3> kMoeKeys{"expert", "capacity", "dispatch"};

const std::vector<Row>& rows() {
  const auto training = [](std::initializer_list<Words> own) {
    return joined({joined(own), training_keys(), gpu_keys(), model_keys()});
  };
  static const std::vector<Row> all{
      {{"ddp", "data parallel: buckets of gradients, reduced while the next are computed",
        training({ddp_keys()})},
       make_ddp,
       load_of_ddp},
      {{"fsdp", "fully sharded: layers gathered ahead, gradients scattered behind",
        training({kFsdpKeys})},
       make_fsdp,
       load_of_fsdp},
      {{"megatron", "tensor, context, pipeline (1F1B, interleaved or not) and data parallel",
        training({kMegatronKeys})},
       make_megatron,
       load_of_megatron},
      {{"moe", "megatron with experts: tokens go to theirs and come back in each layer",
        training({kMoeKeys, kMegatronKeys, expert_keys()})},
       make_moe,
       load_of_moe},
      {{"inference", "prompts at once, then token by token: two reductions a layer of each",
        joined({inference_keys(), gpu_keys(), model_keys()})},
       make_inference,
       nullptr}};
  return all;
}

}  // namespace
}  // namespace workload

void add_parallel_groups(std::span<const ParallelDimension> dimensions, hangs::Outline& outline) {
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
    if (!dimension.name.empty()) outline.families.push_back(std::move(family));
    stride = block;
  }
}

Error bad_key(std::string_view, const std::string& what, const std::string& help) {
  return {ErrorCode::InvalidArgument, what, help};
}

std::span<const WorkloadKind> workload_kinds() {
  static const std::vector<WorkloadKind> all = [] {
    std::vector<WorkloadKind> kinds;
    for (const workload::Row& row : workload::rows()) kinds.push_back(row.kind);
    return kinds;
  }();
  return all;
}

namespace {

/// Returns the row of the workload, and its checked keys.
Result<std::pair<const workload::Row*, workload::Keys>> find_workload(std::string_view kind,
                                                                      const WorkloadKeys& keys,
                                                                      const BadKey& bad) {
  std::vector<std::string_view> names;
  for (const workload::Row& row : workload::rows()) {
    names.push_back(row.kind.name);
    if (row.kind.name != kind) continue;
    workload::Keys checked(
        keys, [kind, bad](std::string_view key, const std::string& what, const std::string& help) {
          return bad(key, fmt::format("{}: {}", kind, what), help);
        });
    RINGSIDE_TRY(checked.check(row.kind.keys));
    return std::pair{&row, std::move(checked)};
  }
  return bad("", fmt::format("unknown workload '{}'", kind), suggestion(kind, names));
}

}  // namespace

Result<hangs::Outline> make_workload(std::string_view kind, const WorkloadKeys& keys,
                                     const BadKey& bad) {
  RINGSIDE_TRY(const auto found, find_workload(kind, keys, bad));
  return found.first->make(found.second);
}

Result<std::optional<TrainingFacts>> training_facts(std::string_view kind, const WorkloadKeys& keys,
                                                    const BadKey& bad) {
  RINGSIDE_TRY(const auto found, find_workload(kind, keys, bad));
  if (found.first->load == nullptr) return std::optional<TrainingFacts>{};
  RINGSIDE_TRY(workload::Load load, found.first->load(found.second));
  const workload::Training& training = load.training;
  TrainingFacts facts{
      .memory = load.memory,
      .gpu = std::string(training.gpu.name),
      .gpu_memory = training.gpu.memory,
      .gpu_flops = training.gpu.peak_flops,
      // Backward computes the gradients of weights and of inputs: twice the operations of forward.
      .model_flops = 3 * training.model_flops() * load.batches,
      .notes = std::move(load.notes)};
  if (training.checks_memory) {
    RINGSIDE_TRY(workload::check_memory(found.first->kind, found.second, facts));
  }
  return std::optional{std::move(facts)};
}

}  // namespace ringside

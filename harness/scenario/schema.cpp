#include "harness/scenario/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/scenario/workload.h"

namespace ringside {
namespace {

std::string row(std::string_view key, std::string_view form, std::string_view what) {
  return fmt::format("| `{}` | `{}` | {} |\n", key, form, what);
}

std::string table(const std::string& title, std::span<const SchemaKey> keys) {
  std::string text = title + "\n\n| key | such as | what |\n|---|---|---|\n";
  for (const SchemaKey& one : keys) text += row(one.key, one.form, one.what);
  return text + "\n";
}

}  // namespace

std::span<const SchemaKey> scenario_keys() {
  static const std::array<SchemaKey, 16> all{{
      {"ringside", "scenario/1", "the first line of every scenario"},
      {"name", "crossed-order", "name of its answers"},
      {"about", "one rank leaves", "for people; optional"},
      {"cluster", "{on: dgx-h100, nodes: 2}",
       "where it runs; without it unknown hosts, on which a call takes 20 us and its bytes at 50 "
       "GB/s. Rank r is GPU r mod G of host r / G"},
      {"ranks", "8", "how many; or `parallel`, or a workload"},
      {"ranks_per_host", "4", "without a cluster: 8"},
      {"iterations", "8", "how often all steps are taken: 1"},
      {"parallel", "{tensor: 2, data: 4}",
       "dimensions with their sizes, innermost first: each makes groups of the ranks that differ "
       "in "
       "it alone; their product is the number of ranks"},
      {"groups", "{pairs: [0-1, 2-3, 4 5, 6 7]}",
       "lists of ranks and runs of ranks; a rank is in at most one group of a name; `world`, of "
       "all, "
       "is there"},
      {"steps", "[{barrier: {on: world}}]",
       "what each rank does in each iteration, where it is a member: below"},
      {"workload", "{ddp: {model: llama3-8b}}", "in place of ranks, groups and steps: below"},
      {"watchdog", "30s",
       "a call that hangs for so long ends the job; any wait of that length counts as endless. "
       "Default, simulated: none; real: --timeout"},
      {"absent", "[3]",
       "ranks that never come to the start of the job: not launched, sent to a wrong address or "
       "interface, behind a firewall"},
      {"seed", "7", "decides what the faults do not specify"},
      {"faults", "[{skip: {rank: 2, call: 5}}]",
       "planned faults (docs/reference/planned-faults.md): of a `rank` at a `call`, from 0 on, "
       "or of connections `from` and `to`; `on: NAME` counts the calls of those groups alone"},
      {"expect", "{hang: {kind: missing_rank}}", "the expected outcome; optional"},
  }};
  return all;
}

std::span<const SchemaKey> cluster_keys() {
  static const std::array<SchemaKey, 4> all{{
      {"on", "dgx-h100", "as `--on` of `ringside sim` takes it, a cluster's file included"},
      {"nodes", "2", "hosts; without it as many as the ranks need"},
      {"set", "{NCCL_ALGO: Ring}", "NCCL's variables; `fabric.KEY` of a cluster's file"},
      {"broken", "ib-disable",
       "what is wrong with the hosts, as `ringside generate logs --break help` lists it: calls are "
       "simulated on hosts that are so, and `findings` found in their logs"},
  }};
  return all;
}

std::span<const SchemaKey> expect_keys() {
  static const std::array<SchemaKey, 3> all{{
      {"hang", "{kind: missing_rank, culprits: [3]}",
       "the job hangs, and `ringside hang` reports this"},
      {"finished", "yes", "the job finishes; or a mapping of bounds"},
      {"findings", "[socket_fallback]",
       "ids that `ringside audit` finds in the logs of such hosts, with any others"},
  }};
  return all;
}

std::span<const SchemaKey> expect_hang_keys() {
  static const std::array<SchemaKey, 3> all{{
      {"kind", "[missing_rank, straggler]", "one kind, or those that are right"},
      {"culprits", "[3]", "exactly these ranks are the culprits"},
      {"call", "{call: all_reduce, on: tensor, number: 12}",
       "the call that the verdict names, or of it what is given; of a group's calls the first is "
       "1"},
  }};
  return all;
}

std::span<const SchemaKey> expect_finished_keys() {
  static const std::array<SchemaKey, 3> all{{
      {"at_least", "2s", "of a step, in simulated time"},
      {"at_most", "6s", "likewise"},
      {"busbw", "[{call: all_reduce, on: data, at_least: 300GB/s}]",
       "bus bandwidth of calls on the cluster, in simulated time; at_most likewise"},
  }};
  return all;
}

std::span<const SchemaKey> workload_keys() {
  static const std::array<SchemaKey, 43> all{{
      {"model", "llama3-70b", "a transformer by its name; or the next numbers"},
      {"layers", "80", ""},
      {"hidden", "8192", "channels"},
      {"heads", "64", "of attention"},
      {"kv_heads", "8", "of keys and values: as many as heads"},
      {"ffn", "28672", "width of the feed-forward: 4 x hidden"},
      {"matrices", "3", "of the feed-forward: 2, or 3 where it is gated"},
      {"vocabulary", "128256", "words"},
      {"experts", "64", "of a layer, that tokens are routed to"},
      {"top_k", "8", "experts that one token goes to"},
      {"expert_ffn", "2048", "width of an expert: as ffn"},
      {"shared_experts", "1", "that every token goes to: 0"},
      {"dense_layers", "3", "the first ones, without experts: 0"},
      {"sequence", "8192", "tokens of a sequence: 4096"},
      {"batch", "1", "sequences, or requests, that a GPU or its pipeline takes at once: 1"},
      {"gradients", "bfloat16", "their type: float"},
      {"recompute", "yes", "activations are computed again before backward: no"},
      {"gpu", "h100", "v100, a100, h100, h200, b200, gb200: dense bf16 of the data sheets"},
      {"gpu_tflops", "989", "in place of a name"},
      {"efficiency", "0.5", "the share of that which kernels achieve; required"},
      {"optimizer_bytes", "4",
       "bytes of optimizer states and master weights a weight: 12, Adam in float; 4 with states in "
       "bfloat16 and no master weights"},
      {"gpu_memory_gb", "40", "gigabytes of a GPU's memory: those of the named GPU"},
      {"check_memory", "no",
       "simulate a step that does not fit into the GPU's memory: yes, refuse"},
      {"data", "32", "replicas: 1"},
      {"bucket_cap_mb", "25", "a bucket is full once it has so much: 25, and the first one 1"},
      {"gradient_order", "forward",
       "buckets follow the order of parameters in the model, so that none overlaps backward; "
       "default backward: the order of gradients, as in DDP"},
      {"reshard", "no",
       "of fsdp: backward has the weights that forward gathered (ZeRO 2, not 3): yes"},
      {"tensor", "8", "ranks that share each layer out: 1"},
      {"context", "2", "ranks that share each sequence out: 1"},
      {"context_exchange", "ring",
       "keys and values go round while scores are computed, or all are gathered first: gather"},
      {"pipeline", "4", "stages: 1"},
      {"chunks", "2", "of layers on each stage, used alternately (interleaved 1F1B): 1"},
      {"microbatches", "16", "under way in the pipeline: as many as stages"},
      {"sequence_parallel", "yes", "between layers each rank has a part of the tokens: no"},
      {"scatter_gather", "yes",
       "each tensor rank sends a part of what all of them have to the next stage, which gathers "
       "it: "
       "no"},
      {"zero", "yes", "gradients are scattered, weights gathered: no"},
      {"expert", "8",
       "ranks that share the experts of a layer out; they divide tensor x context x data"},
      {"capacity", "1.25",
       "an expert takes so many times an even share of the tokens, and is padded to that: what "
       "comes, "
       "spread evenly"},
      {"dispatch", "f8e4m3", "type of what goes to the experts: bfloat16"},
      {"prompt", "1000", "tokens of each request"},
      {"tokens", "128", "that each request generates"},
      {"gpu_memory", "3350", "GB/s of the GPU's memory, in place of a name"},
      {"memory_efficiency", "0.8", "the share of that which kernels achieve; required"},
  }};
  return all;
}

std::vector<std::string_view> names_of(std::span<const SchemaKey> keys) {
  std::vector<std::string_view> names;
  for (const SchemaKey& one : keys) names.push_back(one.key);
  return names;
}

std::string schema_tables() {
  std::string text = table("The document:", scenario_keys()) + table("`cluster`:", cluster_keys()) +
                     table("`expect`:", expect_keys()) + table("`hang`:", expect_hang_keys()) +
                     table("`finished`:", expect_finished_keys());
  text += "Steps:\n\n| step | keys | what |\n|---|---|---|\n";
  for (const hangs::SchemaStep& one : hangs::step_schema()) {
    text += fmt::format("| `{}` | {} | {} |\n", one.form, fmt::join(one.keys, ", "), one.what);
  }
  text += "\n" + table("Their keys:", hangs::step_keys());
  text += "Workloads:\n\n| workload | keys | what |\n|---|---|---|\n";
  for (const WorkloadKind& one : workload_kinds()) {
    text += fmt::format("| `{}` | {} | {} |\n", one.name, fmt::join(one.keys, ", "), one.what);
  }
  text += "\n" + table("Their keys, with their defaults:", workload_keys());
  std::vector<std::string_view> models;
  for (const TransformerShape& one : known_transformers()) models.push_back(one.name);
  return text + fmt::format("Models: {}.\n", fmt::join(models, ", "));
}

}  // namespace ringside

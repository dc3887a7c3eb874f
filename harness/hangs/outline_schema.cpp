#include "harness/hangs/outline_schema.h"

#include <array>

namespace ringside::hangs {

std::span<const SchemaStep> step_schema() {
  using Keys = std::vector<std::string_view>;
  static const Keys call{"on", "count", "type", "async", "stream", "only"};
  static const Keys rooted{"on", "root", "count", "type", "async", "stream", "only"};
  static const std::array<SchemaStep, 16> all{{
      {"compute", "compute: 2ms", {"time", "on", "at"}, "the host is busy"},
      {"kernel",
       "kernel: 2ms",
       {"time", "async", "stream", "on", "at"},
       "the GPU is; what follows on the GPU waits for it"},
      {"all_reduce", "all_reduce: {on: world, count: 4096}", call,
       "a call, which what follows on the GPU waits for, unless it is asynchronous"},
      {"all_gather", "all_gather: {on: data, count: 4096}", call, "likewise"},
      {"reduce_scatter", "reduce_scatter: {on: data, count: 4096}", call, "likewise"},
      {"all_to_all", "all_to_all: {on: expert, count: 4096}", call, "likewise"},
      {"broadcast", "broadcast: {on: world, root: 0, count: 64}", rooted, "likewise"},
      {"reduce", "reduce: {on: world, root: 0, count: 64}", rooted, "likewise"},
      {"barrier",
       "barrier: {on: world}",
       {"on", "async", "stream", "only"},
       "an all-reduce of one element"},
      {"transfer",
       "transfer: {on: pipeline, from: 0, to: 1, count: 64}",
       {"on", "from", "to", "count", "type", "async", "stream", "only"},
       "a send and a receive between two ranks of each group"},
      {"send_recv",
       "send_recv: {on: context, by: 1, count: 64}",
       {"on", "by", "count", "type", "async", "stream", "only"},
       "each rank sends to the next in its group, and receives from the one before it, at once"},
      {"grouped",
       "grouped: {calls: [transfer: {on: pipeline, from: 0, to: 1, count: 64}]}",
       {"calls", "async", "stream", "only"},
       "calls that begin together, in one kernel: transfers, or collectives, of the same groups"},
      {"join",
       "join",
       {"on", "stream", "only"},
       "the GPU waits for all asynchronous calls, or for those of these groups, or of that stream"},
      {"synchronize", "synchronize", {"only"}, "the host waits for the GPU"},
      {"rendezvous",
       "rendezvous: {on: world}",
       {"on", "only"},
       "the hosts wait for each other, through the store: no recorder sees it"},
      {"repeat",
       "repeat: {times: 4, steps: [kernel: 1ms, join]}",
       {"times", "steps"},
       "a loop within an iteration; loops may hold loops"},
  }};
  return all;
}

std::span<const SchemaKey> step_keys() {
  static const std::array<SchemaKey, 15> all{{
      {"on", "tensor", "the groups that call, each by itself"},
      {"count", "4096", "elements that one rank gives; of reduce_scatter those that it gets"},
      {"type", "bfloat16", "of the elements: float"},
      {"root", "0", "rank in the group"},
      {"from", "0", "rank in the group that sends"},
      {"to", "1", "rank in the group that receives"},
      {"by", "1", "so many places on in the group, round its end: 1; -1: to the one before"},
      {"async", "yes", "the GPU does not wait for it before the next `join`"},
      {"stream", "side",
       "steps of one stream run one after the other; without it each group has one, each pair of "
       "ranks that transfers have, and kernels"},
      {"calls", "[transfer: {...}, transfer: {...}]",
       "of grouped; async, stream and only are the whole's"},
      {"only", "{on: pipeline, at: 0}", "one rank of each group of that name takes the step"},
      {"time", "2ms", "how long"},
      {"times", "4", "how often the steps of a loop are taken"},
      {"steps", "[kernel: 1ms]", "of a loop"},
      {"at", "0", "of compute and kernel, with `on`: only this rank of each group"},
  }};
  return all;
}

}  // namespace ringside::hangs

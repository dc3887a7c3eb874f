#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/random.h"
#include "base/suggest.h"
#include "harness/hangs/outline.h"

namespace ringside::hangs {
namespace {

using OutlineKind = OutlineStep::Kind;

constexpr std::array kOpNames{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce",
                              "all_to_all", "barrier",    "send",           "recv"};

/// Builds an outline, with one line per step.
class Writer {
 public:
  Writer(std::string_view name, int ranks, Random& random) : random_(random) {
    outline_.name = name;
    outline_.ranks = ranks;
    outline_.ranks_per_host = ranks >= 16 ? 8 : ranks >= 8 ? 4 : ranks;
    outline_.iterations = static_cast<int>(random.between(6, 14));
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    outline_.families.push_back({"world", "default_pg", {all}});
  }

  /// Adds groups of `size` ranks that are `stride` apart; 1: consecutive ranks.
  int family(const std::string& name, const std::string& desc, int size, int stride) {
    Family family{name, desc, {}};
    const int block = size * stride;
    for (int first = 0; first < outline_.ranks; first += block) {
      for (int offset = 0; offset < stride; ++offset) {
        std::vector<int> members;
        for (int i = 0; i < size; ++i) members.push_back(first + offset + i * stride);
        family.members.push_back(members);
      }
    }
    outline_.families.push_back(family);
    return static_cast<int>(outline_.families.size()) - 1;
  }

  void call(Op op, int family, std::int64_t count, DataType type = DataType::Bfloat16,
            bool async = false) {
    OutlineStep step;
    step.op = op;
    step.family = family;
    step.count = count;
    step.type = type;
    step.async = async;
    outline_.steps.push_back(step);
  }
  void transfer(int family, int from, int to, std::int64_t count) {
    OutlineStep step;
    step.kind = OutlineKind::Transfer;
    step.family = family;
    step.count = count;
    step.type = DataType::Bfloat16;
    step.from = from;
    step.to = to;
    outline_.steps.push_back(step);
  }
  void compute(int least_us, int most_us) {
    OutlineStep step;
    step.kind = OutlineKind::Compute;
    step.time = std::chrono::microseconds(random_.between(least_us, most_us));
    outline_.steps.push_back(step);
  }
  void join() { plain(OutlineKind::Join); }
  void synchronize() { plain(OutlineKind::Synchronize); }

  /// Returns a random size; consecutive calls need different sizes to be distinguishable.
  std::int64_t size() { return random_.between(64, 4096) * 1024 + random_.below(7) * 128; }

  /// Adds the steps with which most training loops end an iteration: the loss, sometimes the norm, then the host.
  void finish() {
    call(Op::AllReduce, 0, 1, DataType::Float32);
    if (random_.chance(40)) call(Op::Broadcast, 0, 262144 + random_.below(64) * 1024);
    if (random_.chance(20)) call(Op::Reduce, 0, 131072 + random_.below(64) * 1024);
    synchronize();
  }

  Outline take() { return std::move(outline_); }
  Random& random() { return random_; }
  [[nodiscard]] int ranks() const { return outline_.ranks; }

 private:
  void plain(OutlineKind kind) {
    OutlineStep step;
    step.kind = kind;
    outline_.steps.push_back(step);
  }
  Outline outline_;
  Random& random_;
};

/// Returns a divisor of n from `least` to 8, at most n / 2; n if there is none.
int divisor(int n, int least, Random& random) {
  std::vector<int> found;
  for (int d = least; d * 2 <= n; ++d) {
    if (n % d == 0 && d <= 8) found.push_back(d);
  }
  return found.empty() ? n : random.pick(found);
}

/// DDP: asynchronous reductions of gradient buckets, joined before the optimizer.
void data(Writer& writer) {
  const auto buckets = writer.random().between(3, 9);
  writer.compute(500, 3000);
  for (int i = 0; i < buckets; ++i) {
    writer.compute(100, 900);
    writer.call(Op::AllReduce, 0, writer.size(), DataType::Float32, true);
  }
  writer.join();
}

/// FSDP: all-gathers before each layer, reduce-scatters after it.
void sharded(Writer& writer) {
  const auto layers = writer.random().between(2, 6);
  std::vector<std::int64_t> shards;
  for (int i = 0; i < layers; ++i) {
    shards.push_back(writer.size() / 8);
    writer.call(Op::AllGather, 0, shards.back(), DataType::Bfloat16, true);
    writer.join();
    writer.compute(200, 900);
  }
  for (int i = static_cast<int>(layers) - 1; i >= 0; --i) {
    const std::int64_t shard = shards[static_cast<std::size_t>(i)];
    writer.call(Op::AllGather, 0, shard, DataType::Bfloat16, true);
    writer.join();
    writer.compute(200, 900);
    writer.call(Op::ReduceScatter, 0, shard, DataType::Bfloat16, true);
  }
  writer.join();
}

void tensor(Writer& writer) {
  const int size = divisor(writer.ranks(), 2, writer.random());
  const int group = writer.family("tensor", "TENSOR_MODEL_PARALLEL_GROUP", size, 1);
  const auto layers = writer.random().between(2, 6);
  const int replicas = writer.ranks() / size;
  const int data = replicas > 1 ? writer.family("data", "DATA_PARALLEL_GROUP", replicas, size) : 0;
  for (int i = 0; i < layers; ++i) {
    writer.compute(200, 900);
    writer.call(Op::AllReduce, group, writer.size());
    if (writer.random().chance(30)) writer.call(Op::AllGather, group, writer.size() / 8);
  }
  for (int i = 0; i < 3; ++i) {
    writer.compute(100, 500);
    writer.call(Op::AllReduce, data, writer.size(), DataType::Float32, replicas > 1);
  }
  writer.join();
}

/// Pipeline stages are `stride` ranks apart; activations go forward, gradients back.
void stages(Writer& writer, int depth, int stride) {
  const int group = writer.family("pipeline", "PIPELINE_MODEL_PARALLEL_GROUP", depth, stride);
  const auto batches = writer.random().between(2, 3);
  const std::int64_t size = writer.size();
  for (int batch = 0; batch < batches; ++batch) {
    for (int stage = 0; stage + 1 < depth; ++stage) {
      writer.compute(50, 300);
      writer.transfer(group, stage, stage + 1, size);
    }
  }
  for (int batch = 0; batch < batches; ++batch) {
    for (int stage = depth - 1; stage > 0; --stage) {
      writer.compute(50, 300);
      writer.transfer(group, stage, stage - 1, size);
    }
  }
}

void pipeline(Writer& writer) {
  const int depth = divisor(writer.ranks(), 2, writer.random());
  const int replicas = writer.ranks() / depth;
  stages(writer, depth, replicas);
  if (replicas > 1) {
    const int data = writer.family("data", "DATA_PARALLEL_GROUP", replicas, 1);
    writer.call(Op::AllReduce, data, writer.size(), DataType::Float32, true);
    writer.call(Op::AllReduce, data, writer.size(), DataType::Float32, true);
  }
  writer.join();
}

void expert(Writer& writer) {
  const int size = divisor(writer.ranks(), 2, writer.random());
  const int group = writer.family("expert", "EXPERT_MODEL_PARALLEL_GROUP", size, 1);
  const auto layers = writer.random().between(2, 5);
  for (int i = 0; i < layers; ++i) {
    writer.call(Op::AllGather, group, 16, DataType::Int64);
    const std::int64_t tokens = writer.size();
    writer.call(Op::AllToAll, group, tokens);
    writer.compute(200, 900);
    writer.call(Op::AllToAll, group, tokens);
  }
  writer.call(Op::AllReduce, 0, writer.size(), DataType::Float32);
}

/// Tensor-parallel groups are innermost, then data-parallel groups; pipeline stages are outermost.
void mixed(Writer& writer) {
  const int ranks = writer.ranks();
  if (ranks < 8 || ranks % 4 != 0) return tensor(writer);
  const int width = 2;
  const int depth = ranks >= 16 && ranks % 16 == 0 && writer.random().chance(50) ? 4 : 2;
  const int replicas = ranks / (width * depth);
  const int group = writer.family("tensor", "TENSOR_MODEL_PARALLEL_GROUP", width, 1);
  writer.compute(200, 900);
  writer.call(Op::AllReduce, group, writer.size());
  writer.call(Op::ReduceScatter, group, writer.size() / 8);
  stages(writer, depth, ranks / depth);
  writer.call(Op::AllReduce, group, writer.size());
  const int data = writer.family("data", "DATA_PARALLEL_GROUP", replicas, width);
  const auto buckets = writer.random().between(1, 4);
  for (int i = 0; i < buckets; ++i) {
    writer.call(Op::AllReduce, data, writer.size(), DataType::Float32, true);
  }
  writer.join();
}

struct Workload {
  std::string_view name;
  void (*write)(Writer& writer);
};
constexpr std::array kWorkloads{Workload{"data", data},     Workload{"sharded", sharded},
                                Workload{"tensor", tensor}, Workload{"pipeline", pipeline},
                                Workload{"expert", expert}, Workload{"mixed", mixed}};

}  // namespace

const char* to_string(Op op) { return kOpNames[static_cast<std::size_t>(op)]; }

bool is_p2p(Op op) { return op == Op::Send || op == Op::Recv; }

bool has_root(Op op) { return op == Op::Broadcast || op == Op::Reduce; }

const std::vector<std::string_view>& workload_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Workload& workload : kWorkloads) all.push_back(workload.name);
    return all;
  }();
  return names;
}

Result<Outline> make_workload(std::string_view name, int ranks, std::uint64_t seed) {
  if (ranks < 2) {
    return Error{ErrorCode::InvalidArgument, fmt::format("{} ranks: a hang takes two", ranks)};
  }
  for (const Workload& workload : kWorkloads) {
    if (workload.name != name) continue;
    Random random(seed);
    Writer writer(name, ranks, random);
    workload.write(writer);
    writer.finish();
    return writer.take();
  }
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown workload '{}'", name),
               suggestion(name, workload_names())};
}

}  // namespace ringside::hangs

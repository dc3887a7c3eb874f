#include "engine/tuning/chunk.h"

#include <algorithm>
#include <array>
#include <span>

namespace ringside {
namespace {

/// Rule: a chunk longer than `longest` is halved while each channel has fewer than `least` chunks.
struct Halving {
  double least;
  std::uint64_t longest;
};

std::uint64_t halved(std::uint64_t chunk, std::uint64_t bytes, std::uint64_t sharers,
                     std::span<const Halving> rules) {
  for (const Halving& rule : rules) {
    while (chunk > rule.longest && static_cast<double>(bytes / (sharers * chunk)) < rule.least) {
      chunk /= 2;
    }
  }
  return chunk;
}

/// Rule: a chunk longer than `size` is cut to `size` if each channel has fewer than `least` chunks.
struct Cut {
  std::uint64_t least;
  std::uint64_t size;
};

std::uint64_t cut(std::uint64_t chunk, std::uint64_t bytes, std::uint64_t sharers,
                  std::span<const Cut> rules) {
  for (const Cut& rule : rules) {
    if (chunk > rule.size && bytes < rule.least * sharers * chunk) chunk = rule.size;
  }
  return chunk;
}

/// The inputs of an algorithm's rule for chunk sizes.
struct ChunkInputs {
  const TuningModel& model;
  const CommShape& shape;
  const CostTable& table;
  const ChunkRequest& request;

  [[nodiscard]] std::uint64_t slot(Protocol p) const {
    return static_cast<std::uint64_t>(shape.buffers[static_cast<std::size_t>(p)] / kSlots);
  }
  [[nodiscard]] std::uint64_t bytes() const { return request.bytes.value; }
  [[nodiscard]] std::uint64_t sharers(int heads = 1) const {
    return static_cast<std::uint64_t>(request.nchannels * heads);
  }
};

std::uint64_t tree(const ChunkInputs& in, std::uint64_t chunk) {
  const int levels = log2_floor(static_cast<std::uint64_t>(in.shape.nnodes));
  if (in.request.protocol == Protocol::Simple && in.model.tree_halves_chunks) {
    const double depth = in.shape.nranks / in.shape.nnodes - 1 + levels;
    const Halving rules[] = {{depth * 8, 131072}, {depth * 4, 65536}, {depth, 32768}};
    return halved(chunk, in.bytes(), in.sharers(), rules);
  }
  if (in.request.protocol != Protocol::LL128) return chunk;
  const float ppn = static_cast<float>(in.shape.nranks) / static_cast<float>(in.shape.nnodes);
  const auto depth = static_cast<float>(1 + levels + 0.1 * static_cast<double>(ppn));
  const Halving rules[] = {{static_cast<double>(depth * 64 / ppn), 131072},
                           {static_cast<double>(depth * 16 / ppn), 32768}};
  return halved(chunk, in.bytes(), in.sharers(), rules);
}

std::uint64_t ring(const ChunkInputs& /*in*/, std::uint64_t chunk) { return chunk; }

std::uint64_t collnet_direct(const ChunkInputs& in, std::uint64_t chunk) {
  const double depth = in.shape.collnet_depth;
  const Halving rules[] = {{depth * 64, 131072}, {depth * 8, 65536}, {depth * 8, 32768}};
  return halved(chunk, in.bytes(), in.sharers(in.shape.collnet_heads), rules);
}

std::uint64_t collnet_chain(const ChunkInputs& in, std::uint64_t /*chunk*/) {
  const double depth = in.shape.nranks / in.shape.nnodes;
  const Halving rules[] = {{depth * 64, 131072}, {depth * 8, 65536}, {depth, 32768}};
  return halved(std::min<std::uint64_t>(262144, in.slot(Protocol::Simple)), in.bytes(),
                in.sharers(), rules);
}

std::uint64_t nvls(const ChunkInputs& in, std::uint64_t chunk) {
  auto longest = static_cast<std::uint64_t>(in.shape.nvls_chunk);
  const Cost& all_reduce = in.table.cost(Collective::AllReduce, Algorithm::Nvls, Protocol::Simple);
  const auto narrow = static_cast<float>(in.model.nvls_narrow_gbs);
  if (in.shape.nnodes > 1 && all_reduce.bandwidth_gbs < narrow) longest = 32768;
  constexpr Cut kRules[] = {{64, 65536}, {8, 32768}, {2, 16384}};
  return cut(std::min(chunk, longest), in.bytes(), in.sharers(in.shape.nvls_heads), kRules);
}

std::uint64_t nvls_tree(const ChunkInputs& in, std::uint64_t /*chunk*/) {
  constexpr Cut kRules[] = {{32, 262144}, {16, 131072}, {4, 65536}, {1, 32768}};
  const int fixed = in.model.nvls_tree_chunk[in.shape.nnodes >= 4 ? 1 : 0];
  const int first = fixed > 0 ? fixed : std::min(in.shape.nvls_chunk, in.shape.nvls_tree_chunk);
  return cut(static_cast<std::uint64_t>(first), in.bytes(), in.sharers(in.shape.nvls_heads),
             kRules);
}

std::uint64_t pat(const ChunkInputs& in, std::uint64_t chunk) {
  if (in.model.pat_over_nvls && in.shape.nranks > in.shape.nnodes) {
    chunk = std::min(chunk, static_cast<std::uint64_t>(in.shape.nvls_chunk));
  }
  const std::uint64_t chunks = in.request.collective == Collective::AllGather ? 32 : 16;
  while (chunk > 65536 && chunk * in.sharers() * chunks > in.bytes()) chunk /= 2;
  return chunk;
}

/// By Algorithm: returns the chunk size, given one that fills its slots.
using Rule = std::uint64_t (*)(const ChunkInputs&, std::uint64_t chunk);
constexpr std::array<Rule, kAlgorithms> kRules{tree,      ring, collnet_direct, collnet_chain, nvls,
                                               nvls_tree, pat};

/// Rings of the long collectives use four slots per chunk, which hides the round-trip time.
int slots_per_chunk(const ChunkRequest& r) {
  const bool is_long = r.collective == Collective::AllReduce ||
                       r.collective == Collective::AllGather ||
                       r.collective == Collective::ReduceScatter;
  return r.algorithm == Algorithm::Ring && r.protocol == Protocol::Simple && is_long ? 4 : 1;
}

}  // namespace

Bytes grain_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::LL:
      return Bytes{16};
    case Protocol::LL128:
      return Bytes{1920};
    case Protocol::Simple:
      break;
  }
  return Bytes{512};
}

Bytes chunk_for(const TuningModel& model, const CommShape& shape, const CostTable& table,
                const ChunkRequest& request) {
  const ChunkInputs in{model, shape, table, request};
  std::uint64_t chunk =
      in.slot(request.protocol) * static_cast<std::uint64_t>(slots_per_chunk(request));
  if (request.protocol == Protocol::LL) chunk /= 2;
  // Up to 2.19, chunk sizes were halved including their flags.
  const bool is_late = model.scheduler.kind == Scheduler::Loops;
  const bool has_flags = request.protocol == Protocol::LL128;
  if (has_flags && !is_late) chunk = chunk / 16 * 15;
  chunk = kRules[static_cast<std::size_t>(request.algorithm)](in, chunk);
  if (has_flags && is_late) chunk = chunk / 16 * 15;
  if (model.scheduler.kind != Scheduler::Cells) return Bytes{chunk};
  const std::uint64_t grain = grain_of(request.protocol).value;
  return Bytes{chunk / grain * grain};
}

}  // namespace ringside

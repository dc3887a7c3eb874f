#include "engine/tuning/chunk.h"

#include <algorithm>
#include <span>

namespace ringside {
namespace {

constexpr int kSlots = 8;  // of a connection

/// A chunk that is longer than `longest` halves while each channel has fewer than `least` of them.
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

/// A chunk that is longer than `size` becomes that where each channel has fewer than `least`.
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

std::uint64_t tree_ll128(const CommShape& shape, std::uint64_t chunk, const ChunkRequest& r) {
  const float ppn = static_cast<float>(shape.nranks) / static_cast<float>(shape.nnodes);
  const int levels = log2_floor(static_cast<std::uint64_t>(shape.nnodes));
  const auto depth = static_cast<float>(1 + levels + 0.1 * static_cast<double>(ppn));
  const Halving rules[] = {{static_cast<double>(depth * 64 / ppn), 131072},
                           {static_cast<double>(depth * 16 / ppn), 32768}};
  return halved(chunk, r.bytes.value, static_cast<std::uint64_t>(r.nchannels), rules);
}

std::uint64_t collnet_direct(const CommShape& shape, std::uint64_t chunk, const ChunkRequest& r) {
  const double depth = shape.collnet_depth;
  const Halving rules[] = {{depth * 64, 131072}, {depth * 8, 65536}, {depth * 8, 32768}};
  return halved(chunk, r.bytes.value, static_cast<std::uint64_t>(r.nchannels * shape.collnet_heads),
                rules);
}

std::uint64_t collnet_chain(const CommShape& shape, std::uint64_t slot, const ChunkRequest& r) {
  const double depth = shape.nranks / shape.nnodes;
  const Halving rules[] = {{depth * 64, 131072}, {depth * 8, 65536}, {depth, 32768}};
  return halved(std::min<std::uint64_t>(262144, slot), r.bytes.value,
                static_cast<std::uint64_t>(r.nchannels), rules);
}

std::uint64_t nvls(const CommShape& shape, const CostTable& table, std::uint64_t chunk,
                   const ChunkRequest& r) {
  constexpr float kSlowNetwork = 150;  // GB/s
  auto longest = static_cast<std::uint64_t>(shape.nvls_chunk);
  const Cost& all_reduce = table.cost(Collective::AllReduce, Algorithm::Nvls, Protocol::Simple);
  if (shape.nnodes > 1 && all_reduce.bandwidth_gbs < kSlowNetwork) longest = 32768;
  constexpr Cut kRules[] = {{64, 65536}, {8, 32768}, {2, 16384}};
  return cut(std::min(chunk, longest), r.bytes.value,
             static_cast<std::uint64_t>(r.nchannels * shape.nvls_heads), kRules);
}

std::uint64_t nvls_tree(const CommShape& shape, const ChunkRequest& r) {
  constexpr Cut kRules[] = {{32, 262144}, {16, 131072}, {4, 65536}, {1, 32768}};
  return cut(static_cast<std::uint64_t>(std::min(shape.nvls_chunk, shape.nvls_tree_chunk)),
             r.bytes.value, static_cast<std::uint64_t>(r.nchannels * shape.nvls_heads), kRules);
}

std::uint64_t pat(std::uint64_t chunk, const ChunkRequest& r) {
  const std::uint64_t chunks = r.collective == Collective::AllGather ? 32 : 16;
  while (chunk > 65536 &&
         chunk * static_cast<std::uint64_t>(r.nchannels) * chunks > r.bytes.value) {
    chunk /= 2;
  }
  return chunk;
}

/// Rings of the long collectives take four slots for a chunk, which hides the way round.
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

Bytes chunk_for(const CommShape& shape, const CostTable& table, const ChunkRequest& request) {
  const auto slot = [&](Protocol p) {
    return static_cast<std::uint64_t>(shape.buffers[static_cast<std::size_t>(p)] / kSlots);
  };
  std::uint64_t chunk =
      slot(request.protocol) * static_cast<std::uint64_t>(slots_per_chunk(request));
  if (request.protocol == Protocol::LL) chunk /= 2;
  if (request.protocol == Protocol::LL128) chunk = chunk / 16 * 15;
  switch (request.algorithm) {
    case Algorithm::Tree:
      if (request.protocol == Protocol::LL128) chunk = tree_ll128(shape, chunk, request);
      break;
    case Algorithm::Ring:
      break;
    case Algorithm::CollNetDirect:
      chunk = collnet_direct(shape, chunk, request);
      break;
    case Algorithm::CollNetChain:
      chunk = collnet_chain(shape, slot(Protocol::Simple), request);
      break;
    case Algorithm::Nvls:
      chunk = nvls(shape, table, chunk, request);
      break;
    case Algorithm::NvlsTree:
      chunk = nvls_tree(shape, request);
      break;
    case Algorithm::Pat:
      chunk = pat(chunk, request);
      break;
    case Algorithm::OneShot:  // these two are not among NCCL's
    case Algorithm::TwoShot:
      break;
  }
  const std::uint64_t grain = grain_of(request.protocol).value;
  return Bytes{chunk / grain * grain};
}

}  // namespace ringside

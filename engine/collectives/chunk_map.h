#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/vocabulary.h"

namespace ringside {

/// The elements that a chunk stands for. unit  elements of the call's data type
struct ChunkSpan {
  std::int64_t input = 0;   ///< offset in this rank's input, where the primitive reads it
  std::int64_t output = 0;  ///< offset in this rank's output, where the primitive writes it
  std::int64_t count = 0;   ///< 0 at the ragged end: both sides know it, nothing travels
};

/// One channel's share of the call.  unit  elements
struct ChannelPart {
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

/// Cuts `count` elements into contiguous parts, one a channel, each but the last ones a multiple of
/// `grain` elements; later parts are empty when there is little to share.
std::vector<ChannelPart> split_channels(std::int64_t count, int nchannels, std::int64_t grain);

/// Where the chunks of one channel lie: (loop, chunk) -> elements. The same on every rank, except
/// for the end of an all-gather's input and a reduce-scatter's output, which only their owner uses.
///
/// all_reduce            a loop covers n chunks side by side; the last loop shrinks them evenly
/// all_gather            chunk q is a piece of the output block of the rank at ring position q
/// reduce_scatter        the same on the input
/// broadcast, reduce     one chunk a loop
/// source  NCCL 2.30's ring kernels (chunk bounds), nccl.h (which rank's block lies where)
class ChunkMap {
 public:
  struct Shape {
    Collective collective = Collective::AllReduce;
    std::span<const Rank> order;  ///< rank at each ring position; n = its size >= 1
    std::int64_t count = 0;  ///< elements of the call: each rank's buffer, or each rank's block
    ChannelPart part;        ///< this channel's share of `count`
    std::int64_t chunk = 1;  ///< elements at most in a chunk, >= 1
    std::int64_t grain = 1;  ///< elements that a shrunken chunk is a multiple of, >= 1
  };

  explicit ChunkMap(const Shape& shape);

  /// How often the algorithm runs to cover the part.
  [[nodiscard]] std::int64_t loops() const { return loops_; }
  /// Chunks in one loop: the modulus of chunk numbers.
  [[nodiscard]] int chunks() const { return chunks_; }
  /// shape  loop 0 .. loops()-1, chunk 0 .. chunks()-1
  [[nodiscard]] ChunkSpan at(std::int64_t loop, int chunk) const;

 private:
  Collective collective_;
  std::vector<std::int64_t> block_;  ///< all_gather, reduce_scatter: the block's offset by position
  ChannelPart part_;
  std::int64_t chunk_;
  std::int64_t grain_;
  std::int64_t loops_;
  int chunks_;
};

}  // namespace ringside

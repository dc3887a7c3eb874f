#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/tuning/channel_split.h"
#include "engine/tuning/predict.h"

namespace ringside {

/// A collective as it is called.
struct TuningCall {
  Collective collective = Collective::AllReduce;
  Bytes bytes;  ///< of the larger of one rank's buffers, as nccl-tests counts
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// One way of doing it.
struct Candidate {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Obstacle obstacle = Obstacle::None;
  Prediction prediction = {};  ///< where there is no obstacle
  bool is_last_resort =
      false;  ///< NCCL takes it only where nothing else is left, whatever its time
};

/// How NCCL does it: the complete answer.
struct TunedChoice {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int max_channels = 1;                                ///< that may be used
  ChannelSplit channels;                               ///< that are
  int nthreads = 0;                                    ///< of a block
  Bytes chunk;                                         ///< on the first channel
  std::optional<Bytes> chunk_mid = {}, chunk_hi = {};  ///< where there are such channels
  Prediction prediction = {};
};

/// Chooses for one communicator, as one version of NCCL does. Everything that does not depend on the
/// size is computed once, so that a choice takes about a microsecond.
///
/// Threads    any thread may ask; nothing changes after make()
/// Ownership  a value: copies are independent
class Tuner {
 public:
  /// version  as load_tuning_model()
  /// errors   as load_tuning_model(). InvalidArgument: lists by collective, which the version lacks
  static Result<Tuner> make(const CommShape& shape, const TuningParameters& parameters,
                            std::string_view version = kBaseRelease);

  /// All 21 combinations in NCCL's order: by algorithm, then protocol.
  /// shape   a collective that is tuned, as for fastest()
  /// ntasks  collectives that are launched together
  [[nodiscard]] std::vector<Candidate> candidates(const TuningCall& call, int ntasks = 1) const;

  /// The fastest candidate; of several with one time, the first up to 2.30, the last from 2.31. Without one: nothing, or, where the version falls back
  /// to it, the ring's fastest protocol.
  [[nodiscard]] std::optional<Candidate> fastest(const TuningCall& call, int ntasks = 1) const;

  /// The choice for one collective launched alone.
  /// errors  InvalidArgument: no algorithm is left; the reason of each that was near is named.
  ///         Unsupported: a collective that NCCL makes of sends and receives
  [[nodiscard]] Result<TunedChoice> choose(const TuningCall& call) const;

  /// The choices for collectives of one group, in the order of `calls`. NCCL takes those of one kind
  /// whose sizes are near together: what is best for their sum serves each.
  /// errors  as choose()
  [[nodiscard]] Result<std::vector<TunedChoice>> choose_group(
      std::span<const TuningCall> calls) const;

  [[nodiscard]] const TuningModel& model() const { return model_; }
  [[nodiscard]] const CommShape& shape() const { return shape_; }
  [[nodiscard]] const CostTable& table() const { return table_; }

 private:
  Tuner(TuningModel model, const CommShape& shape, const TuningParameters& parameters);
  /// Whether the algorithm has a kernel for the call's type and reduction.
  [[nodiscard]] bool has_kernel(Algorithm algorithm, const TuningCall& call) const;
  /// Whether NCCL takes `later`, which follows `earlier` in the order of candidates().
  [[nodiscard]] bool beats(const Candidate& later, const Candidate& earlier) const;
  [[nodiscard]] std::optional<Candidate> fallback(const TuningCall& call, int ntasks) const;
  [[nodiscard]] Error nothing_left(const TuningCall& call) const;

  TuningModel model_;
  CommShape shape_;
  TuningParameters parameters_;
  CostTable table_;
};

/// Elements of one rank: of the smaller of its buffers. All-gather and broadcast count bytes, whatever
/// the type.
/// returns  0 where the size is less than one element a rank
std::uint64_t element_count(const TuningCall& call, int nranks);

}  // namespace ringside

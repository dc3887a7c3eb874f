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

/// The properties of a call that the choice depends on.
struct TuningCall {
  Collective collective = Collective::AllReduce;
  Bytes bytes;  ///< size of the larger of a rank's buffers, as in nccl-tests
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
};

/// One combination of algorithm and protocol for a call.
struct Candidate {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  Obstacle obstacle = Obstacle::None;
  Prediction prediction = {};  ///< valid if obstacle is None
  /// NCCL uses it only if no other candidate is available, whatever its time
  bool is_last_resort = false;
};

/// NCCL's complete decision for a call.
struct TunedChoice {
  Collective collective = Collective::AllReduce;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  int max_channels = 1;   ///< most channels that the call may use
  ChannelSplit channels;  ///< channels that it uses
  int nthreads = 0;       ///< threads of a block
  Bytes chunk;            ///< chunk of the first channel
  /// Chunk sizes of the middle and last channels; nullopt: there are none
  std::optional<Bytes> chunk_mid = {}, chunk_hi = {};
  Prediction prediction = {};
};

/// Chooses algorithm, protocol and channels for one communicator as one version of NCCL does. It precomputes all values
/// that do not depend on the size, so that a choice takes about a microsecond.
///
/// Threads    any thread may call const methods; the object does not change after make()
/// Ownership  a value: copies are independent
class Tuner {
 public:
  /// version  as load_tuning_model()
  /// errors   as load_tuning_model(). InvalidArgument: lists by collective, which the version does not support
  static Result<Tuner> make(const CommShape& shape, const TuningParameters& parameters,
                            std::string_view version = kBaseRelease);

  /// Returns all 21 combinations in NCCL's order: by algorithm, then protocol.
  /// shape   one of the kTunedCollectives; also for fastest()
  /// ntasks  collectives that are launched together
  [[nodiscard]] std::vector<Candidate> candidates(const TuningCall& call, int ntasks = 1) const;

  /// Returns the fastest candidate; of several with equal time, the first up to 2.30 and the last from 2.31 on. Without
  /// an available candidate it returns the ring's fastest protocol if the version falls back to it (RingFallback), else
  /// nothing.
  [[nodiscard]] std::optional<Candidate> fastest(const TuningCall& call, int ntasks = 1) const;

  /// Chooses for one collective that is launched alone.
  /// errors  InvalidArgument: no algorithm is available; the error gives the reasons of the closest ones. Unsupported:
  ///         a collective that NCCL makes of sends and receives
  [[nodiscard]] Result<TunedChoice> choose(const TuningCall& call) const;

  /// Chooses for the collectives of one group, in the order of `calls`. Calls of one kind and similar size get the
  /// choice that is best for their sum (aggregates()).
  /// errors  as choose()
  [[nodiscard]] Result<std::vector<TunedChoice>> choose_group(
      std::span<const TuningCall> calls) const;

  [[nodiscard]] const TuningModel& model() const { return model_; }
  [[nodiscard]] const CommShape& shape() const { return shape_; }
  [[nodiscard]] const CostTable& table() const { return table_; }

 private:
  Tuner(TuningModel model, const CommShape& shape, const TuningParameters& parameters);
  /// Returns whether the algorithm has a kernel for the call's type and reduction.
  [[nodiscard]] bool has_kernel(Algorithm algorithm, const TuningCall& call) const;
  /// Returns whether NCCL takes `later`, which follows `earlier` in the order of candidates().
  [[nodiscard]] bool beats(const Candidate& later, const Candidate& earlier) const;
  [[nodiscard]] std::optional<Candidate> fallback(const TuningCall& call, int ntasks) const;
  [[nodiscard]] Error nothing_left(const TuningCall& call) const;

  TuningModel model_;
  CommShape shape_;
  TuningParameters parameters_;
  CostTable table_;
};

/// Returns the elements of the smaller of a rank's buffers. All-gather and broadcast count bytes, whatever the type.
/// returns  0 if the size is less than one element per rank
std::uint64_t element_count(const TuningCall& call, int nranks);

}  // namespace ringside

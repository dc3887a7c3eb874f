#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tuning/crossover.h"

namespace ringside::cli {

/// What one version of NCCL, under one environment, does with a collective in each size.
struct Explanation {
  std::string label;  ///< "NCCL 2.30, NCCL_ALGO=Ring": what sets it apart from the one beside it
  Tuner tuner;
  TuningCall call;  ///< its size is not looked at
  std::vector<Bytes> sizes;
  std::vector<TunedChoice> choices;  ///< by size
  std::vector<Stretch> stretches;    ///< over all sizes, not only those asked for
};

/// errors  as Tuner::choose()
Result<Explanation> make_explanation(std::string label, Tuner tuner, const TuningCall& call,
                                     const std::vector<Bytes>& sizes);

/// One size under two explanations.
struct Comparison {
  Bytes bytes;
  TunedChoice before, after;
  /// Of algorithm, protocol, nchannels, nthreads, chunk_bytes, time_us.
  std::vector<std::string> changed;
};

/// shape  both have the same sizes
std::vector<Comparison> compare(const Explanation& before, const Explanation& after);

/// The terms of a prediction, in words:
///   latency    "6.8 + 14 x 0.6 us NVLink + 2 x 5 us network"
///   bandwidth  "8 channels x 48 GB/s of the NICs (PIX), ..."
struct Terms {
  std::string latency;
  std::string bandwidth;
};
Terms terms_of(const Tuner& tuner, Collective collective, const Candidate& candidate);

/// Why the choice beats the next best: which of the two terms it is, and by how much.
struct Verdict {
  std::string term;  ///< "latency", "bandwidth", "only one": nothing else is available
  std::optional<Candidate> runner_up = {};
};
Verdict verdict_of(const Tuner& tuner, const TuningCall& call);

}  // namespace ringside::cli

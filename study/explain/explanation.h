#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/tuning/crossover.h"
#include "study/asked_job.h"
#include "study/calls.h"

namespace ringside::study {

/// The question "What does NCCL do with this collective on that cluster, and why?"
struct ExplainQuestion {
  JobOptions job;
  CallWords calls;
  std::vector<std::string> nccl = {};  ///< versions: none (kDefaultRelease), one, or two to compare
};

/// The terms of a prediction, in words:
///   latency    "6.8 + 14 x 0.6 us NVLink + 2 x 5 us network"
///   bandwidth  "8 channels x 48 GB/s of the NICs (PIX), ..."
struct Terms {
  std::string latency;
  std::string bandwidth;
};
/// Returns the terms of a candidate's prediction; if NCCL has no prediction for it, the reason in `latency` and "-".
Terms terms_of(const Tuner& tuner, Collective collective, const Candidate& candidate);

/// The reason why the choice beats the next best candidate.
struct Verdict {
  /// "latency" or "bandwidth": the term that decides; "only one": no other candidate is available;
  /// "last resort": only NCCL's last choices are available.
  std::string term;
  std::optional<Candidate> runner_up = {};
};
/// Compares the tuner's fastest candidate for the call with the next best one.
Verdict verdict_of(const Tuner& tuner, const TuningCall& call);

/// All candidates for one size, NCCL's choice, and the reason.
struct ExplainedSize {
  Bytes bytes;
  std::vector<Candidate> candidates;  ///< as Tuner::candidates()
  TunedChoice choice;
  Verdict verdict;
};

/// A range of sizes, from `stretch.from` on, in which one combination is the fastest.
struct ExplainedStretch {
  Stretch stretch;
  Terms terms;
};

/// A reason that excludes some combinations.
struct Obstructed {
  Obstacle obstacle = Obstacle::None;
  std::vector<Candidate> candidates;
};

using Combination = std::pair<Algorithm, Protocol>;

/// The choices of one NCCL version in one environment, for one collective and each size.
struct Explanation {
  /// Distinguishes the compared explanations: "NCCL 2.30, NCCL_ALGO=Ring".
  std::string label;
  std::string nccl;  ///< version of the model, "2.30.7"
  CommShape shape;
  Calls calls;
  std::vector<Combination> available;  ///< in NCCL's order
  /// The subset of `available` that NCCL takes only if nothing else is left.
  std::vector<Combination> last_resorts;
  std::vector<Obstructed> obstructed;  ///< other combinations; omits those that no NCCL supports
  std::vector<ExplainedSize> sizes;
  std::vector<ExplainedStretch> stretches;  ///< cover all sizes, not only the requested ones
};

/// Computes the choices for the calls.
/// errors  as Tuner::choose()
Result<Explanation> make_explanation(std::string label, const Tuner& tuner, const Calls& calls);

/// The answer, and the explanation to compare it with: that of the first of two versions, or that
/// of the same job without settings on kDefaultRelease. `before` is empty if both are equal.
struct Explained {
  Explanation now;
  std::optional<Explanation> before;
};

/// Answers the question.
/// errors  as parse_calls(), load_tuned_job(), make_explanation(). InvalidArgument: no collective,
///         no hosts,
///         more than two versions
Result<Explained> explain(const ExplainQuestion& question);

/// One size in two explanations.
struct Comparison {
  Bytes bytes;
  TunedChoice before, after;
  /// The names of the fields that changed: algorithm, protocol, nchannels, nthreads, chunk_bytes, time_us.
  std::vector<std::string> changed;
};

/// Returns one entry per size.  shape  both explanations have the same sizes
std::vector<Comparison> compare(const Explanation& before, const Explanation& after);

}  // namespace ringside::study

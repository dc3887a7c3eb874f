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

/// "What does NCCL do with this collective on that cluster, and why?"
struct ExplainQuestion {
  JobOptions job;
  CallWords calls;
  std::vector<std::string> nccl = {};  ///< versions: none (the newest), one, or two to be compared
};

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
  /// "latency", "bandwidth"; "only one": nothing else is available; "last resort": nothing but what NCCL takes last
  std::string term;
  std::optional<Candidate> runner_up = {};
};
Verdict verdict_of(const Tuner& tuner, const TuningCall& call);

/// One size: all ways of doing it, the one that NCCL takes, and why that one.
struct ExplainedSize {
  Bytes bytes;
  std::vector<Candidate> candidates;  ///< as Tuner::candidates()
  TunedChoice choice;
  Verdict verdict;
};

/// From `stretch.from` on one combination is the fastest, at that cost there.
struct ExplainedStretch {
  Stretch stretch;
  Terms terms;
};

/// What stands in the way of some combinations.
struct Obstructed {
  Obstacle obstacle = Obstacle::None;
  std::vector<Candidate> candidates;
};

using Combination = std::pair<Algorithm, Protocol>;

/// What one version of NCCL, under one environment, does with a collective in each size.
struct Explanation {
  std::string label;  ///< "NCCL 2.30, NCCL_ALGO=Ring": what sets it apart from the one beside it
  std::string nccl;   ///< the version whose model it is, "2.30.7"
  CommShape shape;
  Calls calls;
  std::vector<Combination> available;  ///< in NCCL's order
  std::vector<Combination>
      last_resorts;                    ///< of them: what NCCL takes only where nothing else is left
  std::vector<Obstructed> obstructed;  ///< the rest, but for what no NCCL can do
  std::vector<ExplainedSize> sizes;
  std::vector<ExplainedStretch> stretches;  ///< over all sizes, not only those asked for
};

/// errors  as Tuner::choose()
Result<Explanation> make_explanation(std::string label, const Tuner& tuner, const Calls& calls);

/// The answer, and beside it what it is to be compared with: the first of two versions; or the same job where
/// nothing is set, on the newest version, if that is something else.
struct Explained {
  Explanation now;
  std::optional<Explanation> before;
};

/// errors  as parse_calls(), load_tuned_job(), make_explanation(). InvalidArgument: no collective, no hosts,
///         more than two versions
Result<Explained> explain(const ExplainQuestion& question);

/// One size under two explanations.
struct Comparison {
  Bytes bytes;
  TunedChoice before, after;
  /// Of algorithm, protocol, nchannels, nthreads, chunk_bytes, time_us.
  std::vector<std::string> changed;
};

/// shape  both have the same sizes
std::vector<Comparison> compare(const Explanation& before, const Explanation& after);

}  // namespace ringside::study

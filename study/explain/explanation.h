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

/// Why the choice beats the next best: the deciding term, and by how much.
struct Verdict {
  /// "latency", "bandwidth"; "only one": nothing else is available; "last resort": only NCCL's last choices are
  std::string term;
  std::optional<Candidate> runner_up = {};
};
Verdict verdict_of(const Tuner& tuner, const TuningCall& call);

/// One size: all combinations, the one that NCCL chooses, and why.
struct ExplainedSize {
  Bytes bytes;
  std::vector<Candidate> candidates;  ///< as Tuner::candidates()
  TunedChoice choice;
  Verdict verdict;
};

/// From `stretch.from` on one combination is the fastest, with that cost there.
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

/// The choices of one version of NCCL, in one environment, for a collective in each size.
struct Explanation {
  std::string
      label;  ///< "NCCL 2.30, NCCL_ALGO=Ring": what distinguishes it from the one that it is compared with
  std::string nccl;  ///< the version whose model it is, "2.30.7"
  CommShape shape;
  Calls calls;
  std::vector<Combination> available;  ///< in NCCL's order
  std::vector<Combination>
      last_resorts;                    ///< of them: NCCL takes these only if nothing else is left
  std::vector<Obstructed> obstructed;  ///< the rest, except those that no NCCL supports
  std::vector<ExplainedSize> sizes;
  std::vector<ExplainedStretch> stretches;  ///< over all sizes, not only those asked for
};

/// errors  as Tuner::choose()
Result<Explanation> make_explanation(std::string label, const Tuner& tuner, const Calls& calls);

/// The answer, and what it is compared with: the first of two versions; or the same job without settings on the
/// newest version, if that differs.
struct Explained {
  Explanation now;
  std::optional<Explanation> before;
};

/// errors  as parse_calls(), load_tuned_job(), make_explanation(). InvalidArgument: no collective, no hosts,
///         more than two versions
Result<Explained> explain(const ExplainQuestion& question);

/// One size in two explanations.
struct Comparison {
  Bytes bytes;
  TunedChoice before, after;
  /// The names of the fields that changed: algorithm, protocol, nchannels, nthreads, chunk_bytes, time_us.
  std::vector<std::string> changed;
};

/// shape  both have the same sizes
std::vector<Comparison> compare(const Explanation& before, const Explanation& after);

}  // namespace ringside::study

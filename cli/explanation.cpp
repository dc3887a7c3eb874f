#include "cli/explanation.h"

#include <algorithm>

namespace ringside::cli {
namespace {

std::vector<std::string> changes(const TunedChoice& a, const TunedChoice& b) {
  std::vector<std::string> changed;
  const auto note = [&](bool differs, const char* name) {
    if (differs) changed.emplace_back(name);
  };
  note(a.algorithm != b.algorithm, "algorithm");
  note(a.protocol != b.protocol, "protocol");
  note(a.max_channels != b.max_channels, "nchannels");
  note(a.nthreads != b.nthreads, "nthreads");
  note(a.chunk != b.chunk, "chunk_bytes");
  note(a.prediction.time_us != b.prediction.time_us, "time_us");
  return changed;
}

}  // namespace

Result<Explanation> make_explanation(std::string label, Tuner tuner, const TuningCall& call,
                                     const std::vector<Bytes>& sizes) {
  constexpr Bytes kLeast = 8_B;
  constexpr Bytes kMost = 8_GiB;
  std::vector<TunedChoice> choices;
  choices.reserve(sizes.size());
  for (const Bytes size : sizes) {
    TuningCall sized = call;
    sized.bytes = size;
    RINGSIDE_TRY(choices.emplace_back(), tuner.choose(sized));
  }
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  std::vector<Stretch> all =
      stretches(tuner, call, std::min(*least, kLeast), std::max(*most, kMost));
  return Explanation{std::move(label),   std::move(tuner), call, sizes,
                     std::move(choices), std::move(all)};
}

std::vector<Comparison> compare(const Explanation& before, const Explanation& after) {
  RINGSIDE_ASSERT(before.sizes == after.sizes, "{} and {} sizes", before.sizes.size(),
                  after.sizes.size());
  std::vector<Comparison> all;
  for (std::size_t i = 0; i < before.sizes.size(); ++i) {
    all.push_back({before.sizes[i], before.choices[i], after.choices[i],
                   changes(before.choices[i], after.choices[i])});
  }
  return all;
}

Verdict verdict_of(const Tuner& tuner, const TuningCall& call) {
  const std::optional<Candidate> best = tuner.fastest(call);
  Verdict verdict{.term = "only one"};
  if (!best) return verdict;
  for (const Candidate& candidate : tuner.candidates(call)) {
    const bool is_best =
        candidate.algorithm == best->algorithm && candidate.protocol == best->protocol;
    if (candidate.obstacle != Obstacle::None || is_best) continue;
    if (!verdict.runner_up ||
        candidate.prediction.time_us < verdict.runner_up->prediction.time_us) {
      verdict.runner_up = candidate;
    }
  }
  if (!verdict.runner_up) return verdict;
  const auto transfer = [](const Prediction& p) { return p.time_us - p.latency_us; };
  const Prediction& other = verdict.runner_up->prediction;
  const float by_latency = other.latency_us - best->prediction.latency_us;
  const float by_bandwidth = transfer(other) - transfer(best->prediction);
  verdict.term = by_latency >= by_bandwidth ? "latency" : "bandwidth";
  return verdict;
}

}  // namespace ringside::cli

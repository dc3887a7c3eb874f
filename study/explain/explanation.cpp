#include "study/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace ringside::study {
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

/// One side of a comparison: its settings, and its model.
struct Side {
  std::vector<std::string> set;
  std::string nccl{kDefaultRelease};
  friend bool operator==(const Side&, const Side&) = default;
};

/// --nccl A is compared with kDefaultRelease, --nccl A --nccl B with each other; --set with no settings.
std::optional<Side> before_of(const ExplainQuestion& question, const Side& now) {
  Side before;
  if (question.nccl.size() == 2) before = {question.job.set, question.nccl[0]};
  if (before == now) return std::nullopt;
  return before;
}

Result<Explanation> explain_side(const ExplainQuestion& question, const Side& side) {
  RINGSIDE_TRY(const Calls calls, parse_calls(question.calls));
  JobOptions options = question.job;
  options.set = side.set;
  RINGSIDE_TRY(const TunedJob job, load_tuned_job(options, side.nccl));
  std::string label = fmt::format("NCCL {}", job.tuner.model().patch);
  for (const std::string& setting : side.set) label += ", " + setting;
  return make_explanation(std::move(label), job.tuner, calls);
}

Status check(const ExplainQuestion& question) {
  if (question.calls.collective.empty() || question.job.on.empty()) {
    return Error{ErrorCode::InvalidArgument, "explain needs a collective and --on",
                 "such as ringside explain all_reduce --on dgx-h100 --nodes 2"};
  }
  if (question.nccl.size() > 2) {
    return Error{ErrorCode::InvalidArgument, "more than two versions cannot stand side by side",
                 "give --nccl once or twice"};
  }
  return {};
}

/// Sorts combinations, whatever the size, into available ones and the reasons that exclude the others.
void sort_out(const std::vector<Candidate>& candidates, Explanation& explanation) {
  for (const Candidate& candidate : candidates) {
    if (candidate.obstacle == Obstacle::None) {
      explanation.available.emplace_back(candidate.algorithm, candidate.protocol);
      if (candidate.is_last_resort)
        explanation.last_resorts.push_back(explanation.available.back());
      continue;
    }
    const bool is_of_all_versions = candidate.obstacle == Obstacle::NotForCollective ||
                                    candidate.obstacle == Obstacle::SimpleOnly;
    if (is_of_all_versions) continue;
    std::vector<Obstructed>& groups = explanation.obstructed;
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Obstructed& one) {
      return one.obstacle == candidate.obstacle;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), {candidate.obstacle, {}});
    group->candidates.push_back(candidate);
  }
}

}  // namespace

Result<Explanation> make_explanation(std::string label, const Tuner& tuner, const Calls& calls) {
  constexpr Bytes kLeast = 8_B;
  constexpr Bytes kMost = 8_GiB;
  Explanation explanation{.label = std::move(label),
                          .nccl = tuner.model().patch,
                          .shape = tuner.shape(),
                          .calls = calls,
                          .available = {},
                          .last_resorts = {},
                          .obstructed = {},
                          .sizes = {},
                          .stretches = {}};
  for (const Bytes size : calls.sizes) {
    const TuningCall call = calls.at(size);
    RINGSIDE_TRY(TunedChoice choice, tuner.choose(call));
    explanation.sizes.push_back(
        {size, tuner.candidates(call), std::move(choice), verdict_of(tuner, call)});
  }
  const TuningCall any = calls.at(Bytes{});
  sort_out(tuner.candidates(any), explanation);
  const auto [least, most] = std::minmax_element(calls.sizes.begin(), calls.sizes.end());
  for (const Stretch& stretch :
       stretches(tuner, any, std::min(*least, kLeast), std::max(*most, kMost))) {
    explanation.stretches.push_back({stretch, terms_of(tuner, calls.collective, stretch.fastest)});
  }
  return explanation;
}

Result<Explained> explain(const ExplainQuestion& question) {
  RINGSIDE_TRY(check(question));
  Side now{question.job.set};
  if (!question.nccl.empty()) now.nccl = question.nccl.back();
  RINGSIDE_TRY(Explanation explanation, explain_side(question, now));
  Explained all{std::move(explanation), {}};
  if (const std::optional<Side> before = before_of(question, now)) {
    RINGSIDE_TRY(all.before, explain_side(question, *before));
  }
  return all;
}

std::vector<Comparison> compare(const Explanation& before, const Explanation& after) {
  RINGSIDE_ASSERT(before.calls.sizes == after.calls.sizes, "{} and {} sizes", before.sizes.size(),
                  after.sizes.size());
  std::vector<Comparison> all;
  for (std::size_t i = 0; i < before.sizes.size(); ++i) {
    const TunedChoice& was = before.sizes[i].choice;
    const TunedChoice& is = after.sizes[i].choice;
    all.push_back({before.sizes[i].bytes, was, is, changes(was, is)});
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
    const auto rank_of = [](const Candidate& one) {
      return std::pair(one.is_last_resort, one.prediction.time_us);
    };
    if (!verdict.runner_up || rank_of(candidate) < rank_of(*verdict.runner_up)) {
      verdict.runner_up = candidate;
    }
  }
  if (!verdict.runner_up) return verdict;
  if (verdict.runner_up->is_last_resort) {
    verdict.term = "last resort";
    return verdict;
  }
  const auto transfer = [](const Prediction& p) { return p.time_us - p.latency_us; };
  const Prediction& other = verdict.runner_up->prediction;
  const float by_latency = other.latency_us - best->prediction.latency_us;
  const float by_bandwidth = transfer(other) - transfer(best->prediction);
  verdict.term = by_latency >= by_bandwidth ? "latency" : "bandwidth";
  return verdict;
}

}  // namespace ringside::study

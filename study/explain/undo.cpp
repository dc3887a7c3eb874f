#include "study/explain/undo.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/vocabulary.h"

namespace ringside::study {
namespace {

using SetWords = std::vector<std::string>;

/// Returns lists of variables, the shortest first. They set the old choice, or override a default of a later release.
std::vector<SetWords> settings_towards(const TunedChoice& old) {
  const std::string algorithm = fmt::format("NCCL_ALGO={}", nccl_name(old.algorithm));
  const std::string protocol = fmt::format("NCCL_PROTO={}", nccl_name(old.protocol));
  const std::string least = fmt::format("NCCL_MIN_NCHANNELS={}", old.max_channels);
  const std::string most = fmt::format("NCCL_MAX_NCHANNELS={}", old.max_channels);
  std::vector<SetWords> all{{algorithm}, {protocol}, {most}, {least}};
  for (const char* newer : {"NCCL_PAT_ENABLE=0", "NCCL_NVLS_ENABLE=0", "NCCL_PXN_C2C=0",
                            "NCCL_NET_GDR_C2C=0", "NCCL_P2P_LEVEL=SYS"}) {
    all.push_back({newer});
  }
  all.push_back({algorithm, protocol});
  for (const std::string& channels : {most, least}) {
    all.push_back({algorithm, channels});
    all.push_back({protocol, channels});
  }
  for (const std::string& channels : {most, least}) all.push_back({algorithm, protocol, channels});
  return all;
}

}  // namespace

const TunedJob* UndoSearch::job_with(const SetWords& set) {
  const auto known = known_.find(set);
  if (known != known_.end()) return known->second ? &*known->second : nullptr;
  JobOptions options = options_;
  options.set.insert(options.set.end(), set.begin(), set.end());
  Result<TunedJob> job = load_tuned_job(options, release_);
  std::optional<TunedJob>& kept = known_[set];
  if (job) kept = *std::move(job);
  return kept ? &*kept : nullptr;
}

Undo UndoSearch::for_choices(const Calls& calls, std::span<const Bytes> sizes,
                             std::span<const TunedChoice> old) {
  Undo partly;
  for (const SetWords& set : settings_towards(old.front())) {
    const TunedJob* job = job_with(set);
    if (job == nullptr) continue;
    bool is_same = true, has_channels = true;
    std::optional<float> first_us;
    for (std::size_t i = 0; i < sizes.size() && is_same; ++i) {
      const Result<TunedChoice> now = job->tuner.choose(calls.at(sizes[i]));
      is_same = now && now->algorithm == old[i].algorithm && now->protocol == old[i].protocol;
      has_channels = has_channels && is_same && now->max_channels == old[i].max_channels;
      if (is_same && i == 0) first_us = now->prediction.time_us;
    }
    if (!is_same) continue;
    if (has_channels) return {set, true, first_us};
    if (partly.set.empty()) partly = {set, false, first_us};
  }
  return partly;
}

Undo UndoSearch::for_layout(std::span<const std::string> settings, const Holds& holds) {
  for (const std::string& setting : settings) {
    const TunedJob* job = job_with({setting});
    if (job != nullptr && holds(*job)) return {{setting}, true, {}};
  }
  return {};
}

}  // namespace ringside::study

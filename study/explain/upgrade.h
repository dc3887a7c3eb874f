#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tuning/select.h"
#include "study/asked_job.h"
#include "study/calls.h"

namespace ringside::study {

/// Times that differ by less count as equal.
inline constexpr double kSameTime = 0.01;

/// "What does another release of NCCL change on that cluster?"
struct UpgradeQuestion {
  JobOptions job;
  CallWords calls = {};  ///< without a collective: the five that NCCL tunes
  std::string from, to;  ///< releases, as load_release() takes them
};

/// Settings with which the later release decides as the earlier one did; found by computing its decision.
struct Undo {
  std::vector<std::string> set;       ///< NAME=VALUE; empty: no tried setting does
  bool is_whole = false;              ///< channels too; else algorithm and protocol alone
  std::optional<float> time_us = {};  ///< at the first size, by the later release's model
};

/// Adjacent sizes at which one choice turns into another, or stays while its predicted time changes.
struct UpgradeStretch {
  Bytes first, last;                       ///< of the sizes asked for
  TunedChoice before, after;               ///< at the first
  double least_ratio = 1, most_ratio = 1;  ///< predicted time after / before
  bool is_chosen_otherwise = false;        ///< algorithm, protocol or channels
  /// The old choice's time by the later release's model, at the first size; nothing: it is not available there.
  std::optional<float> old_choice_us = {};
  Undo undo = {};  ///< where is_chosen_otherwise
};

struct UpgradeOfCollective {
  Collective collective = Collective::AllReduce;
  std::vector<UpgradeStretch> stretches = {};  ///< in ascending order, all sizes
};

/// One difference in graphs or channels, which does not depend on a size.
struct LaidOtherwise {
  std::string what, before, after;
  Undo undo = {};
  bool is_count = false;  ///< a number of channels, for which the page has a separate column
};

struct Upgrade {
  std::string from, to;  ///< with their patches: "2.19.4", "2.27.7"
  CommShape before, after;
  std::vector<LaidOtherwise> laid = {};
  std::vector<UpgradeOfCollective> collectives = {};
  /// The number of sizes of all collectives, and of those with another choice.
  std::size_t sizes = 0, changed_sizes = 0;
};

/// errors  InvalidArgument: no hosts, one release twice; as parse_calls(), load_tuned_job(), Tuner::choose()
Result<Upgrade> explain_upgrade(const UpgradeQuestion& question);

/// A row of a page: an upgrade on some nodes of a preset, without settings.
struct UpgradeRow {
  std::string preset;
  int nodes = 0;
  Upgrade upgrade;
};

/// The steps that users take: from each release that PyTorch 2.1 to 2.9 shipped to the next, and to the newest.
struct UpgradeStep {
  const char* from;
  const char* to;
};
std::span<const UpgradeStep> upgrade_steps();

/// One step on 1, 2 and 4 nodes of the presets whose GPUs the older release knows.
/// only    the one preset to include; empty: all presets
/// errors  as explain_upgrade()
Result<std::vector<UpgradeRow>> upgrade_rows(const UpgradeStep& step, const std::string& only);

}  // namespace ringside::study

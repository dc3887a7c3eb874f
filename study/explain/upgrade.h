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

/// Times that differ by less are told as the same.
inline constexpr double kSameTime = 0.01;

/// "What does another release of NCCL change on that cluster?"
struct UpgradeQuestion {
  JobOptions job;
  CallWords calls = {};  ///< without a collective: the five that NCCL tunes
  std::string from, to;  ///< releases, as load_release() takes them
};

/// What under the later release decides as the earlier one did; found by deciding with it set.
struct Undo {
  std::vector<std::string> set;       ///< NAME=VALUE; empty: nothing that was tried does
  bool is_whole = false;              ///< channels too; else algorithm and protocol alone
  std::optional<float> time_us = {};  ///< at the first size, by the later release's model
};

/// Sizes side by side at which one choice turns into another, or stays while its predicted time changes.
struct UpgradeStretch {
  Bytes first, last;                       ///< of the sizes asked for
  TunedChoice before, after;               ///< at the first
  double least_ratio = 1, most_ratio = 1;  ///< predicted time after / before
  bool is_chosen_otherwise = false;        ///< algorithm, protocol or channels
  /// Of the old choice, by the later release's model, at the first size; nothing: it is not available there.
  std::optional<float> old_choice_us = {};
  Undo undo = {};  ///< where is_chosen_otherwise
};

struct UpgradeOfCollective {
  Collective collective = Collective::AllReduce;
  std::vector<UpgradeStretch> stretches = {};  ///< in ascending order, all sizes
};

/// One thing that is laid otherwise, before a size is asked for.
struct LaidOtherwise {
  std::string what, before, after;
  Undo undo = {};
  bool is_count = false;  ///< of channels, which a row of the page has in a column of its own
};

struct Upgrade {
  std::string from, to;  ///< with their patches: "2.19.4", "2.27.7"
  CommShape before, after;
  std::vector<LaidOtherwise> laid = {};
  std::vector<UpgradeOfCollective> collectives = {};
  /// Of the sizes of all collectives: how many are chosen otherwise.
  std::size_t sizes = 0, changed_sizes = 0;
};

/// errors  InvalidArgument: no hosts, one release twice; as parse_calls(), load_tuned_job(), Tuner::choose()
Result<Upgrade> explain_upgrade(const UpgradeQuestion& question);

/// A row of a page: an upgrade on so many nodes of a preset, nothing set.
struct UpgradeRow {
  std::string preset;
  int nodes = 0;
  Upgrade upgrade;
};

/// The steps that users take: from one release that PyTorch 2.1 to 2.9 came with to the next, and to the newest.
struct UpgradeStep {
  const char* from;
  const char* to;
};
std::span<const UpgradeStep> upgrade_steps();

/// One step on 1, 2 and 4 nodes of the presets that the older release knows the GPUs of.
/// only    the one source to tell of; empty: all presets
/// errors  as explain_upgrade()
Result<std::vector<UpgradeRow>> upgrade_rows(const UpgradeStep& step, const std::string& only);

}  // namespace ringside::study

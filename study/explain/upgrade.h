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

/// Relative difference below which two times count as equal.
inline constexpr double kSameTime = 0.01;

/// The question "What does another release of NCCL change on that cluster?"
struct UpgradeQuestion {
  JobOptions job;
  CallWords calls = {};  ///< no collective: the five that NCCL tunes
  std::string from, to;  ///< as load_release() takes them
};

/// Settings with which the later release decides as the earlier one did. Each is verified by
/// computing the decision.
struct Undo {
  std::vector<std::string> set;  ///< NAME=VALUE; empty: no settings found
  /// False: only algorithm and protocol are restored.
  bool restores_channels = false;
  /// Predicted time at the first size, by the later release's model.
  std::optional<float> time_us = {};
};

/// Adjacent sizes with the same change of choice, or with the same choice and another predicted
/// time.
struct UpgradeStretch {
  Bytes first, last;                       ///< first and last of the requested sizes
  TunedChoice before, after;               ///< at the first size
  double least_ratio = 1, most_ratio = 1;  ///< predicted time after / before
  bool is_other_choice = false;            ///< algorithm, protocol or channels differ
  /// The time of the old choice at the first size, by the later release's model; none: the choice
  /// is not available.
  std::optional<float> old_choice_us = {};
  Undo undo = {};  ///< set if is_other_choice
};

/// How the choices for one collective differ between two releases.
struct UpgradeOfCollective {
  Collective collective = Collective::AllReduce;
  std::vector<UpgradeStretch> stretches = {};  ///< cover all sizes in ascending order
};

/// A difference in graphs or channels, which does not depend on the size.
struct LayoutDifference {
  std::string what, before, after;
  Undo undo = {};
  bool is_count = false;  ///< a number of channels, which has a column of its own on the page
};

/// How the decisions for a job differ between two releases.
struct Upgrade {
  std::string from, to;  ///< full versions: "2.19.4", "2.27.7"
  CommShape before, after;
  std::vector<LayoutDifference> layout = {};
  std::vector<UpgradeOfCollective> collectives = {};
  /// The number of sizes over all collectives, and the number of sizes with another choice.
  std::size_t sizes = 0, changed_sizes = 0;
};

/// Compares the decisions of two releases for a job, and searches for settings that restore the earlier ones.
/// errors  InvalidArgument: no hosts, one release twice; as parse_calls(), load_tuned_job(), Tuner::choose()
Result<Upgrade> explain_upgrade(const UpgradeQuestion& question);

/// A row of a page: an upgrade on a number of nodes of a preset, without settings.
struct UpgradeRow {
  std::string preset;
  int nodes = 0;
  Upgrade upgrade;
};

/// A step that users take: from each release that PyTorch 2.1 to 2.9 shipped to the next, and to
/// the newest.
struct UpgradeStep {
  const char* from;
  const char* to;
};
std::span<const UpgradeStep> upgrade_steps();

/// Computes one step on 1, 2 and 4 nodes of each preset whose GPUs the older release supports.
/// only    the one preset to include; empty: all presets
/// errors  as explain_upgrade()
Result<std::vector<UpgradeRow>> upgrade_rows(const UpgradeStep& step, const std::string& only);

}  // namespace ringside::study

#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/tuning/choice.h"
#include "sim/model.h"
#include "sim/system_group.h"
#include "study/validate/published.h"

/// Compares the simulator with measurements.
namespace ringside::study {

/// Returns the name of a size class (see size_class_of()) for people.
const char* name_of_size_class(std::size_t size_class);

/// The measurements to compare with, and how to simulate them.
struct ValidationQuestion {
  std::string published;  ///< folder, as read_published() takes it
  /// Folder with SYSTEM.yaml, SYSTEM@G.yaml for G ranks per node, SYSTEM@G-NOTE.yaml.
  std::string machines;
  std::string fidelity = "auto";
  std::string model = {};  ///< as SimQuestion::model
  std::string only = {};   ///< substring of the systems' names; empty: all
};

/// A published measurement next to its predictions.
struct ScoredRow {
  const PublishedRow* measured = nullptr;  ///< points into Validation::published
  std::optional<Seconds> simulated;
  std::optional<Seconds> nccl;  ///< NCCL's own prediction, for collectives that it tunes
  std::string error;            ///< reason why `simulated` is empty
  SystemGroup group = {};
  Surroundings surroundings = {};
  Choice choice = {};
  Seconds busiest{};         ///< as SimResult::busiest
  double error_percent = 0;  ///< the error bar of the simulated time

  [[nodiscard]] bool is_within_bar() const {
    return simulated && std::abs(*simulated / measured->time - 1) * 100 <= error_percent;
  }
};

/// Returns true if a library other than NCCL was measured: such rows count in no median over
/// systems.
bool is_apart(const ScoredRow& row);

/// Statistics of |predicted - measured| / measured.
struct ErrorSummary {
  int rows = 0, failed = 0;
  double median = 0, p90 = 0;
  double bias = 0;  ///< signed median; below 0: predictions are too fast
};

/// The errors over all rows of one system.
struct SystemScore {
  std::string name;
  bool is_apart = false;  ///< a library other than NCCL: counts in no median over systems
  std::array<ErrorSummary, kSizeClasses> simulated, nccl;
};

/// All rows, and the errors over all systems.
struct Validation {
  Published published;
  std::vector<ScoredRow> rows;
  std::vector<SystemScore> systems;
  std::vector<std::pair<std::string, std::string>> skipped;  ///< system, and the reason
  /// Medians over systems of their medians and 90th percentiles.
  std::array<ErrorSummary, kSizeClasses> simulated, nccl;
  /// Share of NCCL's simulated rows within the stated error; half, if the error is correct.
  std::array<double, kSizeClasses> covered{};
  double covered_all = 0;
};

/// Scores every row of quality A and B whose machine is described.
/// progress  receives the completed share of calls, and the system of the next one
/// errors    as read_published(), plan_simulation() for the fidelity and the model;
///           InvalidArgument: no row is left
Result<Validation> validate(const ValidationQuestion& question,
                            const std::function<void(double, const std::string&)>& progress = {});

}  // namespace ringside::study

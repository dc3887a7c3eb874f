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

/// The name of size_class_of()'s result, for people.
const char* name_of_size_class(std::size_t size_class);

struct ValidationQuestion {
  std::string published;  ///< as read_published()
  std::string
      machines;  ///< folder: SYSTEM.yaml, SYSTEM@G.yaml for G ranks a node, SYSTEM@G-NOTE.yaml
  std::string fidelity = "auto";
  std::string model = {};  ///< as SimQuestion::model
  std::string only = {};   ///< part of the systems' names; empty: all
};

struct ScoredRow {
  const PublishedRow* measured = nullptr;  ///< of Validation::published
  std::optional<Seconds> simulated;
  std::optional<Seconds> nccl;  ///< by its own model, for what it tunes
  std::string error;            ///< where there is no simulated time
  SystemGroup group = {};
  Surroundings surroundings = {};
  Choice choice = {};
  Seconds busiest{};         ///< as SimResult::busiest
  double error_percent = 0;  ///< the error bar of the simulated time

  [[nodiscard]] bool is_within_bar() const {
    return simulated && std::abs(*simulated / measured->time - 1) * 100 <= error_percent;
  }
};

/// Whether another library than NCCL was measured: such rows are in no median over systems.
bool is_apart(const ScoredRow& row);

/// Of |predicted - measured| / measured.
struct ErrorSummary {
  int rows = 0, failed = 0;
  double median = 0, p90 = 0;
  double bias = 0;  ///< median with its sign: below 0 it is too fast
};

struct SystemScore {
  std::string name;
  bool is_apart = false;  ///< another library than NCCL: in no median over systems
  std::array<ErrorSummary, kSizeClasses> simulated, nccl;
};

struct Validation {
  Published published;
  std::vector<ScoredRow> rows;
  std::vector<SystemScore> systems;
  std::vector<std::pair<std::string, std::string>> skipped;  ///< system, and why
  /// Medians over systems of their medians and 90th percentiles.
  std::array<ErrorSummary, kSizeClasses> simulated, nccl;
  /// Of the simulated rows of NCCL, the share within the stated error: half, if the error is correct.
  std::array<double, kSizeClasses> covered{};
  double covered_all = 0;
};

/// Scores every row of quality A and B whose machine is described.
/// progress  share of the calls done, and the system of the next one
/// errors    as read_published(), plan_simulation() for the fidelity and the model; InvalidArgument: no row is left
Result<Validation> validate(const ValidationQuestion& question,
                            const std::function<void(double, const std::string&)>& progress = {});

}  // namespace ringside::study

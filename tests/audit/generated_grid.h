#pragma once

#include <string>
#include <vector>

/// Generated logs of known truth, audited: misconfiguration x hosts x version of NCCL.
namespace ringside::grid {

struct Cell {
  std::string hosts;  ///< preset
  int nodes = 1;
  std::string version;
  std::string misconfiguration;  ///< empty: healthy
  std::string subsystems;        ///< empty: the version's default, and ENV
};

struct Outcome {
  Cell cell;
  bool is_possible = true;  ///< the hosts or the version may not be able to have it
  std::string why_not = {};
  /// injected, not found at warn or above (info counts for info)
  std::vector<std::string> missed = {};
  /// Found at warn or above, neither injected nor a consequence
  std::vector<std::string> extra = {};

  [[nodiscard]] bool is_right() const { return missed.empty() && extra.empty(); }
};

/// Every misconfiguration, and none, on each of these hosts as each of these versions.
std::vector<Cell> all_cells();

/// Writes the log in memory and audits it.
Outcome audit(const Cell& cell);

/// Markdown: a row for each misconfiguration with its cells, correct ones, and missing or additional findings.
std::string grid_table(const std::vector<Outcome>& outcomes);

}  // namespace ringside::grid

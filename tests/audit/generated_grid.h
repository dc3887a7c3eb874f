#pragma once

#include <string>
#include <vector>

/// Audits generated logs whose faults are known: misconfiguration x hosts x version of NCCL.
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
  /// False where the hosts or the version cannot have the misconfiguration
  bool is_possible = true;
  std::string why_not = {};
  /// Injected, but not found at warn or above (info counts for info).
  std::vector<std::string> missed = {};
  /// Found at warn or above, although neither injected nor a consequence.
  std::vector<std::string> extra = {};

  [[nodiscard]] bool is_right() const { return missed.empty() && extra.empty(); }
};

/// Returns the cells of every misconfiguration, and of none, on each of these hosts with each of these versions.
std::vector<Cell> all_cells();

/// Writes the log in memory and audits it.
Outcome audit(const Cell& cell);

/// Returns a Markdown table with a row for each misconfiguration: its cells, the correct ones, and missing or
/// additional findings.
std::string grid_table(const std::vector<Outcome>& outcomes);

}  // namespace ringside::grid

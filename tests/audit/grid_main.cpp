#include <cstdio>
#include <cstring>

#include "tests/audit/generated_grid.h"

// usage: ringside_audit_grid [NAME]
// Generates and audits the whole grid, or one misconfiguration of it; prints each wrong cell to stderr
// and the table to stdout.
int main(int argc, char** argv) {
  std::vector<ringside::grid::Outcome> outcomes;
  for (const ringside::grid::Cell& cell : ringside::grid::all_cells()) {
    if (argc > 1 && cell.misconfiguration != argv[1]) continue;
    outcomes.push_back(ringside::grid::audit(cell));
    const ringside::grid::Outcome& outcome = outcomes.back();
    if (outcome.is_right()) continue;
    std::fprintf(stderr, "%s x %d, NCCL %s, %s:", cell.hosts.c_str(), cell.nodes,
                 cell.version.c_str(), cell.misconfiguration.c_str());
    for (const std::string& id : outcome.missed) std::fprintf(stderr, " missed %s", id.c_str());
    for (const std::string& id : outcome.extra) std::fprintf(stderr, " extra %s", id.c_str());
    std::fprintf(stderr, "\n");
  }
  std::fputs(ringside::grid::grid_table(outcomes).c_str(), stdout);
  return 0;
}

#include "cli/all_verbs.h"

namespace ringside::cli {

std::vector<Verb> all_verbs() {
  return {demo_verb(),     probe_verb(),   audit_verb(),    hang_verb(), attach_verb(),
          bench_verb(),    sim_verb(),     sweep_verb(),    run_verb(),  reproduce_verb(),
          scenario_verb(), explain_verb(), validate_verb(), topo_verb(), generate_verb(),
          trace_verb(),    gui_verb()};
}

}  // namespace ringside::cli

#include "cli/job_options.h"

#include <fmt/format.h>

#include "cli/options.h"
#include "study/idle_variables.h"

namespace ringside::cli {

Option* add_job_options(Options& app, JobOptions& options) {
  Option* on = app.add_option("--on", options.on,
                              "host: a preset's name, an NCCL or hwloc XML, or several such as "
                              "a.xml:4,b.xml:2; or a "
                              "cluster's file, also NODE@PLATFORM.xml of SimGrid's")
                   ->required();
  app.add_option("-N,--nodes", options.nodes, "how many of them (default: 1; of a cluster all)");
  app.add_option("--gpus", options.gpus,
                 "GPUs of the whole job, in place of --nodes: as many nodes as they fill");
  app.add_option(
      "--fabric", options.fabric,
      "switches between hosts: KIND, or KIND:2:1 with 2:1 oversubscription; kinds: "
      "switch, leaf_spine, fat_tree, dragonfly_plus, torus; leaves have 32 ports to "
      "hosts, and --set fabric.KEY changes the rest (default: the network never limits)");
  app.add_option("--nvl-domain", options.nvl_domain,
                 "number of consecutive hosts that share one NVLink domain");
  app.add_option("--set", options.set,
                 "NAME=VALUE: an NCCL variable; nics, nic_rate, drop_rail or gdr of each host; or "
                 "fabric.KEY of a cluster file or of --fabric; repeatable")
      ->allow_extra_args(false);
  return on;
}

void print_idle_settings(const JobOptions& options) {
  for (const std::string& note : study::idle_notes(options)) fmt::print(stderr, "note: {}\n", note);
}

}  // namespace ringside::cli

#include "cli/job_options.h"

#include "cli/options.h"

namespace ringside::cli {

Option* add_job_options(Options& app, JobOptions& options) {
  Option* on = app.add_option("--on", options.on,
                              "host: a preset's name, an NCCL or hwloc XML, or several such as "
                              "a.xml:4,b.xml:2; or a "
                              "cluster's file, also NODE@PLATFORM.xml of SimGrid's")
                   ->required();
  app.add_option("-N,--nodes", options.nodes, "how many of them (default: 1; of a cluster all)");
  app.add_option("--nvl-domain", options.nvl_domain,
                 "number of consecutive hosts that share one NVLink domain");
  app.add_option(
         "--set", options.set,
         "NAME=VALUE: an NCCL variable; nics, drop_rail or gdr of each host; or fabric.KEY of a "
         "cluster file; repeatable")
      ->allow_extra_args(false);
  return on;
}

}  // namespace ringside::cli

#pragma once

#include "study/asked_job.h"

namespace ringside::cli {

class Option;
class Options;

using study::JobOptions;  // every verb about a cluster uses it

/// Adds --on, --nodes, --nvl-domain and --set. `options` outlives the parsing.
/// returns --on, which is required
Option* add_job_options(Options& app, JobOptions& options);

}  // namespace ringside::cli

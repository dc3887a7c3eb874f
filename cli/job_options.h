#pragma once

#include "study/asked_job.h"

namespace ringside::cli {

class Option;
class Options;

using study::JobOptions;  // every verb about a cluster uses it

/// Adds --on, --nodes, --gpus, --fabric, --nvl-domain and --set. `options` outlives the parsing.
/// returns --on, which is required
Option* add_job_options(Options& app, JobOptions& options);

/// Prints a note on stderr for each setting without effect.
void print_idle_settings(const JobOptions& options);

}  // namespace ringside::cli

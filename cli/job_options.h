#pragma once

#include "study/asked_job.h"

namespace ringside::cli {

class Option;
class Options;

using study::JobOptions;  // every verb about a cluster uses it

/// Adds --on, --nodes, --gpus, --fabric, --nvl-domain and --set. `options` outlives the parsing.
/// returns --on, which is required
Option* add_job_options(Options& app, JobOptions& options);

/// Says on stderr which of the settings decide nothing.
void note_idle_settings(const JobOptions& options);

}  // namespace ringside::cli

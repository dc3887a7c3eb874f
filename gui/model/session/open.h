#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gui/model/session/lesson.h"
#include "study/simulation.h"

namespace ringside::gui {

using Opened = Result<std::shared_ptr<const Document>>;
/// Receives the completed share of reading traces and recordings, or of a simulated call; other
/// files report none. Returning false cancels the reading (Aborted), but not a simulation.
using OnProgress = std::function<bool(double)>;
/// Receives the first part of a document, to show until the whole document is ready
/// (Session::complete()). Called from the thread that opens.
using OnPart = std::function<void(std::shared_ptr<const Document>)>;

/// Opens the files at the paths: one .rtrace, several of one job, a scenario (which is simulated),
/// a folder or files of Flight Recorder dumps and logs (calls of each rank, with the verdict), what
/// other tools recorded (profilers' traces, the Inspector's and torchcomms' files), or
/// logs alone (their calls, simulated on the hosts that they describe, with audit's findings).
///
/// on_part  receives the first events of a single large trace
/// cluster  hosts of the logs in the form of --on; empty: derived from the logs
/// errors   those of the file's reader; InvalidArgument: no paths, or traces among other files
Opened open_paths(const std::vector<std::string>& paths, const OnProgress& on_progress = {},
                  const OnPart& on_part = {}, const std::string& cluster = {});

/// Simulates a call, and opens the trace of its steps.
/// errors  as study::plan_simulation(), study::simulate_call()
Opened open_simulation(const study::SimQuestion& question, const OnProgress& on_progress = {});

/// Simulates the lesson's call or scenario, with the lesson's title and texts.
/// errors  as open_simulation(); those of the scenario's reader
Opened open_lesson(const Lesson& lesson, const OnProgress& on_progress = {});

}  // namespace ringside::gui

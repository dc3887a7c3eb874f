#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gui/model/session/lesson.h"
#include "study/simulation.h"

namespace ringside::gui {

using Opened = Result<std::shared_ptr<const Document>>;
using OnProgress = std::function<bool(double)>;  ///< share that is done; false ends it
/// The document's beginning, to be shown until all of it is there: Session::complete(). Called from the thread that
/// opens.
using OnPart = std::function<void(std::shared_ptr<const Document>)>;

/// Opens what the paths name: one .rtrace, several of one job, a scenario (which is simulated), a folder or files of
/// Flight Recorder dumps and logs (calls of each rank, with the verdict), or of logs alone (their calls, simulated on
/// the hosts that they describe, with audit's findings).
///
/// on_part  of a trace that takes long: its first events
/// cluster  the hosts of the logs, as --on takes them; empty: as the logs show them
/// errors   those of the file's reader; InvalidArgument: no paths, mixed kinds
Opened open_paths(const std::vector<std::string>& paths, const OnProgress& on_progress = {},
                  const OnPart& on_part = {}, const std::string& cluster = {});

/// Simulates the call, and shows its steps on its machine.
/// errors  as study::plan_simulation(), study::simulate_call()
Opened open_simulation(const study::SimQuestion& question, const OnProgress& on_progress = {});

Opened open_lesson(const Lesson& lesson, const OnProgress& on_progress = {});

}  // namespace ringside::gui

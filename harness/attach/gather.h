#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/attach/job_state.h"
#include "harness/attach/place.h"
#include "ringside/units.h"

namespace ringside::attach {

/// Where a running job is asked, and for how long.
struct Request {
  std::vector<HostPort> services = {};  ///< of RAS; the next one is asked where one does not answer
  std::vector<Place> workers = {};      ///< PyTorch's control plane in each process, by rank
  std::optional<HostPort> store = {};   ///< the job's TCPStore, which lists the workers
  /// Processes of this host whose stacks are read, or launchers whose ranks' stacks are.
  std::vector<std::int64_t> pids = {};
  bool diagnoses = false;   ///< whether RAS runs its DIAGNOSTICS
  bool uses_pipes = false;  ///< whether dumps are requested through pipes
  int reports = 3;          ///< that must agree in a row
  Seconds interval{1};      ///< between two reports
  Seconds timeout{12};      ///< for all that is asked
};

/// One thing that was asked, and what came of it.
struct Source {
  std::string what;   ///< status, process, dump, stack, store, diagnostics, pipe
  std::string where;  ///< address or process
  bool has_answered = false;
  std::string said;  ///< a few words: `8 ranks, 3 reports`, or why nothing came
};

/// What was gathered; the files are in the folder.
struct Gathered {
  JobState state = JobState::Unknown;
  std::vector<Source> sources;
  std::optional<JobReport> newest;  ///< of the RAS service
  std::size_t files = 0;
  Seconds took{0};
};

/// Called with each step while it happens: one line of plain text.
using OnStep = std::function<void(const std::string& line)>;

/// Asks the job, and writes what comes into the folder, under names that `ringside hang FOLDER` knows. While ranks move,
/// reports are all that it asks for.
///
/// It reads only: see docs/reference/attach.md for what each request does in the job.
///
/// folder  exists and is empty
/// errors  PeerGone, Timeout, Corrupt: no service and no process answered, with the first reason.  System: a file
Result<Gathered> gather(const Request& request, const std::string& folder, const OnStep& on_step);

}  // namespace ringside::attach

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

/// The sources of a running job that gather() queries, and the limits of its queries.
struct Request {
  /// RAS services. If one does not answer, the next one is queried.
  std::vector<HostPort> services = {};
  std::vector<Place> workers = {};     ///< PyTorch's control plane in each process, by rank
  std::optional<HostPort> store = {};  ///< the job's TCPStore, which lists the workers
  /// Processes of this host whose stacks are read. For a launcher, the stacks of its ranks are read. At most 64 stacks
  /// are read in all.
  std::vector<std::int64_t> pids = {};
  bool diagnoses = false;   ///< whether RAS runs its DIAGNOSTICS
  bool uses_pipes = false;  ///< whether dumps are requested through pipes
  int reports = 3;          ///< consecutive reports that must agree on whether the job moves
  Seconds interval{1};      ///< between two reports
  Seconds timeout{12};  ///< for all queries together, but the stacks: a debugger has 30 s for each
};

/// One query, and its result.
struct Source {
  std::string what;   ///< status, process, dump, stack, store, diagnostics, pipe
  std::string where;  ///< address or process
  bool has_answered = false;
  std::string
      said;  ///< summary of the answer: `8 ranks, 3 reports`; without an answer, why there is none
};

/// The results of gather() besides the files in the folder.
struct Gathered {
  JobState state = JobState::Unknown;
  std::vector<Source> sources;
  std::optional<JobReport> newest;  ///< the newest report of the RAS service
  std::size_t files = 0;            ///< number of files written
  Seconds took{0};
};

/// Called with each step while it happens: one line of plain text.
using OnStep = std::function<void(const std::string& line)>;

/// Queries the job, and writes the answers to the folder, under names that `ringside hang FOLDER` knows. While ranks
/// move, it requests RAS reports only.
///
/// It does not change the job: docs/reference/attach.md describes what each query does in it.
///
/// folder  exists and is empty
/// errors  InvalidArgument: more than 64 processes.  System: a file cannot be written.  If no source has answered, the error
///         of the first one, with its address: PeerGone, Timeout, Corrupt; NotFound: no such process; Unsupported: no tool
///         reads stacks
Result<Gathered> gather(const Request& request, const std::string& folder, const OnStep& on_step);

}  // namespace ringside::attach

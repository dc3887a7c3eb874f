#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/flight/recorder.h"

namespace ringside {

/// One rank's status. If is_answering is false, the rank did not answer.
struct RankStatus {
  bool is_answering = false;
  bool is_dead = false;  ///< no process listens at its address any more
  std::string host;
  std::int64_t pid = -1;
  std::vector<FlightRecorder::GroupView> groups;
};

/// Encodes a status as JSON, the form in which ranks send it to each other.
std::string to_wire(const RankStatus& status);
/// errors  Corrupt: not a text of to_wire()
Result<RankStatus> parse_rank_status(std::string_view text);

/// Returns the status of all ranks in the JSON of NCCL's RAS service. In addition it has `completed_counts` next to
/// `collective_counts`, and `operations`, which also counts sends and receives.
/// ranks     [rank of the job]
/// took      how long the query of all ranks took
/// base      URL of the control plane, "http://127.0.0.1:28028", for `control_plane` of each rank; empty: omitted
/// source    docs/formats 7.1
std::string status_json(std::span<const RankStatus> ranks, Seconds took,
                        const std::string& base = {});

/// Returns the status as readable text, in the order of RAS's text: job, communicators, errors, warnings.
/// is_verbose  lists all ranks instead of only the ranks that differ
std::string status_text(std::span<const RankStatus> ranks, Seconds took, bool is_verbose);

/// Returns the answer of NCCL's RAS service to DIAGNOSTICS, which here contains only the check of the NCCL_*
/// variables.
/// variables  [rank]; nullopt: the rank did not answer
/// host, pid  of the process that answers
std::string diagnostics_report(
    std::span<const std::optional<std::map<std::string, std::string>>> variables,
    const std::string& host, std::int64_t pid, Seconds took);

}  // namespace ringside

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

/// One rank's status, or that it did not answer.
struct RankStatus {
  bool is_answering = false;
  bool is_dead = false;  ///< no process listens at its address any more
  std::string host;
  std::int64_t pid = -1;
  std::vector<FlightRecorder::GroupView> groups;
};

/// The form in which ranks send it to each other: JSON.
std::string to_wire(const RankStatus& status);
/// errors  Corrupt: no such text
Result<RankStatus> parse_rank_status(std::string_view text);

/// What NCCL's RAS service answers, of all ranks: the same JSON, with `completed_counts` next to
/// `collective_counts`, and `operations` that counts sends and receives, too.
/// ranks     [rank of the job]
/// took      to ask them
/// base      of the addresses at which ranks' dumps are (`control_plane`); empty: no process serves them
/// source    docs/formats 7.1
std::string status_json(std::span<const RankStatus> ranks, Seconds took,
                        const std::string& base = {});

/// The same for people, in the order of RAS's text: job, communicators, errors, warnings.
/// is_verbose  all ranks are listed, and not only those that differ
std::string status_text(std::span<const RankStatus> ranks, Seconds took, bool is_verbose);

/// What NCCL's RAS service answers to DIAGNOSTICS: of the checks, the one of the NCCL_* variables.
/// variables  [rank]; nothing for a rank that did not answer
/// host, pid  of the process that answers
std::string diagnostics_report(
    std::span<const std::optional<std::map<std::string, std::string>>> variables,
    const std::string& host, std::int64_t pid, Seconds took);

/// The time as RAS prints it: "YYYY-MM-DD HH:MM:SS", local.
std::string status_time();

}  // namespace ringside

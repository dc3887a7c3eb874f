#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "harness/attach/job_state.h"
#include "harness/attach/ras_client.h"

/// Private to this folder.
namespace ringside::attach {

/// The reports of one service, oldest first.
struct PolledReports {
  std::vector<JobReport> reports;
  JobState state = JobState::Unknown;
  int same = 0;                  ///< as Movement::same()
  std::optional<Error> failure;  ///< the newest; always there without a report
};

struct PollDeadlines {
  Deadline answer;       ///< for the answers
  Deadline next_report;  ///< no report is asked for after it
};

/// Asks a service for reports until `enough` of them agree on whether the job moves, its process is gone, or the time
/// is over.
/// on_report  is called after each report, with all of them and Movement::same()
PolledReports poll_reports(
    const RasClient& client, int enough, Nanoseconds interval, const PollDeadlines& deadlines,
    const std::function<void(const std::vector<JobReport>& reports, int same)>& on_report);

}  // namespace ringside::attach

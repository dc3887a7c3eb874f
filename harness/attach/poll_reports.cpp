#include "harness/attach/poll_reports.h"

#include <utility>

namespace ringside::attach {
namespace {

Result<JobReport> ask_report(const RasClient& client, Deadline deadline) {
  RINGSIDE_TRY(RasAnswer answer, client.status(Patience(deadline)));
  return JobReport::read(std::move(answer));
}

}  // namespace

PolledReports poll_reports(
    const RasClient& client, int enough, Nanoseconds interval, const PollDeadlines& deadlines,
    const std::function<void(const std::vector<JobReport>& reports, int same)>& on_report) {
  PolledReports polled;
  Movement movement(enough);
  const Clock& clock = real_clock();
  for (;;) {
    const Clock::Time asked = clock.now();
    auto report = ask_report(client, deadlines.answer);
    if (report) {
      movement.add(*report);
      polled.reports.push_back(*std::move(report));
      on_report(polled.reports, movement.same());
    } else {
      polled.failure = report.error();
      if (polled.failure->code == ErrorCode::PeerGone && !polled.reports.empty()) {
        polled.state = JobState::Gone;
        break;
      }
      // One report that was cut off need not be the last.
      if (polled.failure->code != ErrorCode::Corrupt || polled.reports.empty()) break;
    }
    const Clock::Time next = asked + interval;
    if (movement.state() != JobState::Unknown || next >= deadlines.next_report.at()) break;
    real_clock().sleep_until(next);
  }
  if (polled.state != JobState::Gone) polled.state = movement.state();
  polled.same = movement.same();
  return polled;
}

}  // namespace ringside::attach

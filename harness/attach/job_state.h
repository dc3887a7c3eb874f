#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/ras_report.h"
#include "harness/attach/ras_client.h"

namespace ringside::attach {

/// What the reports of a RAS service, one after the other, show of the job.
enum class JobState {
  Unknown,  ///< too few reports, or none
  Moves,    ///< ranks launch or complete calls
  Still,    ///< nothing has changed for several reports
  Gone,     ///< the service answered before and nothing listens now
};
const char* to_string(JobState state);

/// One answer to STATUS, understood as far as its format allows.
struct JobReport {
  RasAnswer answer;
  std::optional<hang::RasReport> parsed;  ///< of a report in JSON
  std::string fingerprint;                ///< equal for two reports between which nothing moved

  /// errors  Corrupt: JSON that is broken or no report
  static Result<JobReport> read(RasAnswer answer);
};

/// How far the ranks of the communicator are in which they are furthest apart:
/// `communicator 0x9f00c1 of 8 ranks: 118 to 120 calls launched, fewest by rank 3; rank 5 does not answer`.
std::string progress_text(const hang::RasReport& report);

/// Compares reports as they come.
class Movement {
 public:
  /// enough  reports in a row that must agree
  explicit Movement(int enough) : enough_(enough) {}

  void add(const JobReport& report);

  /// Moves or Still once as many reports in a row agree, before that Unknown.
  [[nodiscard]] JobState state() const;

  /// Reports since the last change, the newest among them.
  [[nodiscard]] int same() const { return same_; }

 private:
  const int enough_;
  int same_ = 0;     ///< reports in a row without a change
  int changed_ = 0;  ///< changes in a row
  hang::MissingRanks missing_;
  std::string last_;
};

}  // namespace ringside::attach

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

/// The state of the job, as consecutive reports of a RAS service show it, or consecutive dumps of some ranks.
enum class JobState {
  Unknown,  ///< too few reports, or none
  Moves,    ///< ranks launch or complete calls
  Still,    ///< nothing has changed for several reports
  Gone,     ///< the service has answered, and nothing listens any more
};

/// Returns the name in JSON and text: unknown, moves, still, gone.
const char* to_string(JobState state);

/// One answer to STATUS.
struct JobReport {
  RasAnswer answer;
  std::optional<hang::RasReport> parsed;  ///< nullopt: the answer is text, not JSON
  std::string fingerprint;                ///< equal for two reports between which nothing moved

  /// Parses an answer.
  /// errors  Corrupt: invalid JSON, or not a report
  static Result<JobReport> read(RasAnswer answer);
};

/// Returns a text on the communicator whose ranks differ most in the number of calls that they have launched:
/// `communicator 0x9f00c1 of 8 ranks: 118 to 120 calls launched, fewest by rank 3; rank 5 does not answer`.
std::string progress_text(const hang::RasReport& report);

/// Decides from consecutive reports whether the job moves.
class Movement {
 public:
  /// enough  number of consecutive reports that must agree
  explicit Movement(int enough) : enough_(enough) {}

  /// Adds the next report.
  void add(const JobReport& report);

  /// Returns Moves or Still once enough consecutive reports agree; before that, Unknown.
  [[nodiscard]] JobState state() const;

  /// Returns the number of reports since the last change, including the newest.
  [[nodiscard]] int same() const { return same_; }

 private:
  const int enough_;
  int same_ = 0;     ///< consecutive reports without a change
  int changed_ = 0;  ///< consecutive changes
  hang::MissingRanks missing_;
  std::string last_;
};

/// The pauses of a job that moves, each as the number of equal reports in a row. They show how long the job may be still
/// before that is unusual.
class Pauses {
 public:
  /// first  limit(), in reports, while fewer than two pauses are known
  explicit Pauses(int first) : first_(first) {}

  /// Adds a pause that has ended.
  void add(int reports);

  /// Returns how many equal reports are still usual: one and a half times the second longest pause, since the longest one may
  /// have been a fault.
  [[nodiscard]] int limit() const;

 private:
  int first_;
  int count_ = 0;
  int longest_ = 0, second_ = 0;
};

}  // namespace ringside::attach

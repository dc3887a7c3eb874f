#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Reads how processes ended, in the words of torchrun, DeepSpeed's launcher, srun, mpirun and crash handlers: who fell
/// by itself, and whom a watchdog, a launcher or a scheduler ended then.
///
/// Ordering   lines come in the order of the log: a launcher ends the others after the first has fallen
/// Ownership  the statements must outlive it
/// source     docs/formats 4.10, 5.7, 8.5
class EndLines {
 public:
  explicit EndLines(Statements& statements) : statements_(statements) {}

  /// `rank`: whose line it is; -1: it does not say.  returns  whether the message was one of these
  bool take_message(const logs::Record& record, int rank);

  /// Process ids of ranks that a summary names.
  [[nodiscard]] const std::map<std::int64_t, int>& rank_of_pid() const { return rank_of_pid_; }

 private:
  struct Failure {
    int rank = -1;
    std::int64_t code = 0;
    std::string time;
  };
  void take_summary(const logs::Record& record);
  void take_child(const logs::Record& record);
  void take_task(const logs::Record& record);
  void take_crash(const logs::Record& record, int rank);
  void take_worker(const logs::Record& record);

  Statements& statements_;
  std::map<std::int64_t, int> rank_of_pid_;
  bool has_step_ended_ = false;  ///< srun has ended the step: what falls now, it ended
  bool in_root_cause_ = false;
  Failure failure_;              ///< of torchrun's summary, as far as it was read
  std::vector<Failure> others_;  ///< that stand before the first one
};

}  // namespace ringside::hang

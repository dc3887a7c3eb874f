#pragma once

#include <cstdint>
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

  /// The first thread that faulthandler lists of a process that crashed: its line can have the tag that a cut took from
  /// the one before. Any other line is passed over.
  void take_thread(const logs::Record& record, int rank);

  /// A rank's process, as a summary names it.
  struct Process {
    std::string host;
    std::int64_t pid = -1;
    int rank = -1;
  };
  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }

 private:
  struct Failure {
    int rank = -1;
    std::int64_t code = 0;
    std::string time;
    std::string host;
  };
  void take_summary(const logs::Record& record);
  void take_child(const logs::Record& record);
  void take_task(const logs::Record& record);
  void take_crash(const logs::Record& record, int rank);
  void take_worker(const logs::Record& record);
  bool take_launcher(const logs::Record& record);

  Statements& statements_;
  std::vector<Process> processes_;
  bool has_step_ended_ = false;  ///< srun has ended the step: what falls now, it ended
  bool was_signalled_ = false;   ///< so was the launcher
  bool in_root_cause_ = false;
  std::int64_t crash_ =
      0;             ///< the signal of a crash that nobody's name stands before; 0: there is none
  Failure failure_;  ///< of torchrun's summary, as far as it was read
  std::vector<Failure> others_;  ///< that stand before the first one
};

}  // namespace ringside::hang

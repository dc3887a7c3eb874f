#pragma once

#include <string>
#include <vector>

#include "diag/hangdetect/readers/statements.h"
#include "diag/logparse/record.h"

namespace ringside::hang {

/// Reads what PyTorch's monitored_barrier says of who came to it, and who did not.
///
/// Ownership  the statements must outlive it
/// source     torch/csrc/distributed/c10d/ProcessGroupGloo.cpp, monitoredBarrier
class BarrierLines {
 public:
  explicit BarrierLines(Statements& statements) : statements_(statements) {}

  /// returns  whether the message was one of these
  bool take_message(const logs::Record& record);

  /// Rank 0 gave up by itself and says who came: the others did not, where it is known how many there are.
  /// world  ranks of the job; 0: no line says it
  void finish(int world);

 private:
  Statements& statements_;
  logs::Record waits_;  ///< the line that says who gave up
  std::string waits_text_;
  int waiter_ = -1;
  std::vector<int> came_;
  bool is_told_ = false;  ///< who came, or who did not
  bool is_absent_told_ = false;
};

}  // namespace ringside::hang

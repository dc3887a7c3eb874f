#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hang_class.h"
#include "base/random.h"
#include "base/result.h"
#include "harness/hangs/player.h"
#include "harness/hangs/program.h"

namespace ringside::hangs {

/// What can be wrong with a job, in the words of `ringside hang`: all but Unknown.
using FaultClass = HangClass;
using ringside::to_string;

inline constexpr int kFaultClasses = kHangClasses;

/// errors  InvalidArgument: unknown; the nearest known one is named
Result<FaultClass> parse_fault_class(std::string_view text);

/// What was done to the program.
struct Fault {
  FaultClass kind = FaultClass::NotAHang;
  std::string text;           ///< "skips one collective and continues"
  std::vector<int> culprits;  ///< ascending; empty when there is no culprit
  Halt halt = Halt::None;     ///< of the culprits
  int iteration = -1;
  int group = -1;  ///< of the call that was changed; -1 when no call was
  int seq = 0;     ///< of the call: the culprits differ from here on
  bool is_p2p = false;
  bool is_group_missing =
      false;  ///< the others wait in the creation of a group, which no recorder sees
  NetworkFault network;
};

/// Injects one fault of the class at a place that `random` draws.
///
/// first    iteration before which nothing goes wrong
/// returns  nothing where the program has no place for it (no transfer, no root, ...). That the job then
///          hangs is not certain: equal calls hide a difference. Play it.
std::optional<Fault> inject(Program& program, FaultClass kind, int first, Random& random);

}  // namespace ringside::hangs

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

/// The fault classes are the verdicts of `ringside hang`, without Unknown.
using FaultClass = HangClass;
using ringside::to_string;

inline constexpr int kFaultClasses = kHangClasses;

/// errors  InvalidArgument: unknown name; the message suggests the nearest one
Result<FaultClass> parse_fault_class(std::string_view text);

/// A fault that was injected into a program.
struct Fault {
  FaultClass kind = FaultClass::NotAHang;
  std::string text;           ///< "skips one collective and continues"
  std::vector<int> culprits;  ///< ascending; empty: no culprit
  Halt halt = Halt::None;     ///< what the culprits do
  int iteration = -1;
  int group = -1;  ///< group of the changed call; -1: no call was changed
  int seq = 0;     ///< number of the call: the culprits differ from it on
  bool is_p2p = false;
  /// The other ranks wait in the creation of a group, which no recorder shows.
  bool is_group_missing = false;
  NetworkFault network;
};

/// Injects one fault of the class into the program, at a random place.
///
/// first    first iteration in which the fault may occur
/// returns  nullopt if the program has no place for the fault (no transfer, no root, ...). The
///          program may still not hang, as equal calls hide a difference: check with play()
std::optional<Fault> inject(Program& program, FaultClass kind, int first, Random& random);

}  // namespace ringside::hangs

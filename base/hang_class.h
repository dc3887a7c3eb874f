#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ringside {

/// The classes of problems in a job that `hang` reports and that the generator injects.
enum class HangClass : std::uint8_t {
  MissingRank,
  DeadRank,
  DivergedControlFlow,
  OpMismatch,
  ShapeMismatch,
  DtypeMismatch,
  RootMismatch,
  OrderMismatch,
  P2pUnmatched,
  DeadlockCycle,
  Straggler,
  NetworkStall,
  NotAHang,
  Unknown,  ///< a problem whose cause is unknown
};

/// Number of classes without Unknown, which a job cannot have.
inline constexpr int kHangClasses = 13;

/// The names of the classes, as `verdict.kind` of the JSON and scenario files have them.
inline constexpr std::array<const char*, kHangClasses + 1> kHangClassNames{
    "missing_rank",   "dead_rank",      "diverged_control_flow",
    "op_mismatch",    "shape_mismatch", "dtype_mismatch",
    "root_mismatch",  "order_mismatch", "p2p_unmatched",
    "deadlock_cycle", "straggler",      "network_stall",
    "not_a_hang",     "unknown"};

constexpr const char* to_string(HangClass one) {
  return kHangClassNames[static_cast<std::size_t>(one)];
}

}  // namespace ringside

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/words.h"
#include "ringside/units.h"

namespace ringside {

/// The faults that a job can have: of one rank at one of its calls, or of connections between two ranks.
enum class FaultKind : std::uint8_t {
  // Faults of a call of a rank.
  Skip,             ///< the rank omits the call and continues
  Add,              ///< makes the call twice
  Reorder,          ///< makes the call after the next one
  WrongCount,       ///< makes the call with another number of elements
  WrongType,        ///< makes the call with another element type
  WrongOp,          ///< makes the call with another reduction
  WrongCollective,  ///< makes another collective instead
  WrongRoot,        ///< makes the call with another root
  Late,             ///< makes the call `by` later
  Stall,            ///< computes and never makes the call; with `by`, makes it that much later
  Throw,            ///< throws an exception that ends its program
  Exit,             ///< ends its process without an error message
  Kill,             ///< its process is killed by SIGKILL
  Stop,             ///< its process is stopped by SIGSTOP: it exists, and does not answer
  // Faults of connections.
  SlowLink,   ///< carries at most `rate`, or a message every `by`
  StallLink,  ///< accepts no more data; with `by`, accepts data again after that time
  Drop,       ///< loses messages
  Blackhole,  ///< accepts all data and delivers none
  CutLink,    ///< breaks: sends and receives on it fail
};
inline constexpr int kFaultKinds = 19;

/// Returns the name: skip, add, ..., cut_link.
const char* to_string(FaultKind kind);
std::span<const std::string_view> fault_names();
/// errors  InvalidArgument: unknown; the nearest known one is named
Result<FaultKind> parse_fault_kind(std::string_view text);

/// Returns whether the fault is one of a connection, not of a rank's call.
constexpr bool is_link_fault(FaultKind kind) { return kind >= FaultKind::SlowLink; }

/// One fault: its kind, and where it starts. Fields that are not set are drawn (FaultPlan::drawn_for), or follow from
/// the call itself (changed_by). Ranks are those of the whole job.
struct Fault {
  FaultKind kind = FaultKind::Skip;
  std::string on = {};  ///< name of a communicator: only its calls or connections count; empty: all

  // For faults of a call.
  std::optional<int> rank = {};
  std::optional<std::int64_t> call = {};  ///< number of the call among the rank's calls, from 0
  std::int64_t times = 1;  ///< number of consecutive calls, or of lost messages; 0: unlimited
  std::optional<std::int64_t> count = {};
  std::optional<DataType> type = {};
  std::optional<RedOp> op = {};
  std::optional<Collective> collective = {};
  std::optional<int> root = {};
  std::optional<Seconds> by = {};
  int status = 1;  ///< exit status, for Exit

  // For faults of connections.
  std::optional<int> from = {};     ///< the rank that sends
  std::optional<int> to = {};       ///< nullopt: all ranks
  std::optional<int> channel = {};  ///< nullopt: all channels
  Bytes after = {};                 ///< starts when that many bytes were sent on the connection,
  std::uint64_t step = 0;           ///< and so many messages
  std::optional<BytesPerSecond> rate = {};

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// If the number of a rank's calls is unknown, a call is drawn among this many.
inline constexpr std::int64_t kDrawnCalls = 16;

/// All that goes wrong in a job: plain data, the same on every rank, in real and in simulated runs.
struct FaultPlan {
  std::uint64_t seed = 1;
  std::vector<Fault> faults;

  /// Returns the plan with the rank and call of every fault of a call set, and the sending rank of every fault of a
  /// connection: open values are drawn from the seed, for each fault independently, so that the same seed gives the same
  /// plan everywhere.
  /// calls   drawn calls are in [calls / 4, calls)
  /// errors  InvalidArgument: a rank that is not in the job
  [[nodiscard]] Result<FaultPlan> drawn_for(int nranks, std::int64_t calls = kDrawnCalls) const;

  friend bool operator==(const FaultPlan&, const FaultPlan&) = default;
};

/// The properties of a call that a fault can change.
struct FaultableCall {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  int root = 0;
  std::int64_t count = 0;
  friend bool operator==(const FaultableCall&, const FaultableCall&) = default;
};

/// Returns the changed call: with the fault's values, else with values that differ from the call's. A wrong type has
/// another element size, a wrong count is 1.5 times the count. A root is taken modulo `nranks`, so that a communicator of
/// one rank keeps its root.
/// shape  nranks >= 1: size of the call's communicator
FaultableCall changed_by(const Fault& fault, FaultableCall call, int nranks);

}  // namespace ringside

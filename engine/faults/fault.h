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

/// What can go wrong in a job: with one rank at one of its calls, or with connections between two ranks.
enum class FaultKind : std::uint8_t {
  // at a call of a rank
  Skip,             ///< the rank leaves the call out, and goes on
  Add,              ///< makes it twice
  Reorder,          ///< makes it behind the next one
  WrongCount,       ///< with another number of elements
  WrongType,        ///< of another element type
  WrongOp,          ///< with another reduction
  WrongCollective,  ///< another collective in its place
  WrongRoot,        ///< from or to another root
  Late,             ///< comes to it `by` later
  Stall,            ///< computes, and never comes to it; with `by` it does, so much later
  Throw,            ///< an exception takes the rank out of its program
  Exit,             ///< the process leaves without a word
  Kill,             ///< SIGKILL
  Stop,             ///< SIGSTOP: there, and deaf
  // with connections
  SlowLink,   ///< carries `rate`, or a message every `by`
  StallLink,  ///< takes nothing in any more; with `by` it does again, so much later
  Drop,       ///< loses messages
  Blackhole,  ///< takes everything in, and delivers nothing
  CutLink,    ///< breaks, and says so
};
inline constexpr int kFaultKinds = 19;

/// Their names: skip, add, ..., cut_link.
const char* to_string(FaultKind kind);
std::span<const std::string_view> fault_names();
/// errors  InvalidArgument: unknown; the nearest known one is named
Result<FaultKind> parse_fault_kind(std::string_view text);

/// Whether it is a connection's and not a rank's.
constexpr bool is_link_fault(FaultKind kind) { return kind >= FaultKind::SlowLink; }

/// One fault: what, and where it sets in. What is not given is drawn (FaultPlan::drawn_for) or follows from
/// the call itself (changed_by). Ranks are those of the whole job.
struct Fault {
  FaultKind kind = FaultKind::Skip;
  std::string on =
      {};  ///< a communicator's name: only its calls count, only its connections; empty: all

  // At a call of a rank.
  std::optional<int> rank = {};
  std::optional<std::int64_t> call = {};  ///< which of those that the rank makes, from 0
  std::int64_t times = 1;                 ///< so many in a row, calls or lost messages; 0: for ever
  std::optional<std::int64_t> count = {};
  std::optional<DataType> type = {};
  std::optional<RedOp> op = {};
  std::optional<Collective> collective = {};
  std::optional<int> root = {};
  std::optional<Seconds> by = {};
  int status = 1;  ///< of Exit

  // With connections.
  std::optional<int> from = {};     ///< the rank that sends
  std::optional<int> to = {};       ///< none: to all
  std::optional<int> channel = {};  ///< none: on all
  Bytes after = {};                 ///< once so much has been sent on the connection,
  std::uint64_t step = 0;           ///< and so many messages
  std::optional<BytesPerSecond> rate = {};

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// Among so many calls of a rank one is drawn, where the number of its calls is unknown.
inline constexpr std::int64_t kDrawnCalls = 16;

/// All that goes wrong in a job: plain data, the same on every rank, in real and in simulated runs.
struct FaultPlan {
  std::uint64_t seed = 1;
  std::vector<Fault> faults;

  /// The plan with every rank and call given: what the faults leave open is drawn from the seed, for each
  /// fault on its own, so that the same seed gives the same plan everywhere.
  /// calls   drawn ones lie in [calls / 4, calls)
  /// errors  InvalidArgument: a rank that the job has not
  [[nodiscard]] Result<FaultPlan> drawn_for(int nranks, std::int64_t calls = kDrawnCalls) const;

  friend bool operator==(const FaultPlan&, const FaultPlan&) = default;
};

/// What of a call a fault can change.
struct FaultableCall {
  Collective collective = Collective::AllReduce;
  DataType type = DataType::Float32;
  RedOp op = RedOp::Sum;
  int root = 0;
  std::int64_t count = 0;
  friend bool operator==(const FaultableCall&, const FaultableCall&) = default;
};

/// The call as the fault makes it: by the fault's own words, else by one that always differs. A wrong type
/// has elements of another size, a wrong count is half as much again.
/// shape  nranks >= 1: of the call's communicator
FaultableCall changed_by(const Fault& fault, FaultableCall call, int nranks);

}  // namespace ringside

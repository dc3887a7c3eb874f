#include "engine/faults/fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/random.h"
#include "base/suggest.h"
#include "ringside/vocabulary.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, kFaultKinds> kNames{"skip",
                                                           "add",
                                                           "reorder",
                                                           "wrong_count",
                                                           "wrong_type",
                                                           "wrong_op",
                                                           "wrong_collective",
                                                           "wrong_root",
                                                           "late",
                                                           "stall",
                                                           "throw",
                                                           "exit",
                                                           "kill",
                                                           "stop",
                                                           "slow_link",
                                                           "stall_link",
                                                           "drop",
                                                           "blackhole",
                                                           "cut_link"};

Status check_rank(const std::optional<int>& rank, const char* key, FaultKind kind, int nranks) {
  if (!rank || (*rank >= 0 && *rank < nranks)) return {};
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("fault {}: {} {} in a job of {} ranks", to_string(kind), key, *rank, nranks),
      fmt::format("give a rank from 0 to {}", nranks - 1)};
}

/// Returns a different collective with the same buffers: one that moves data and gives another result.
Collective other_than(Collective collective) {
  return collective == Collective::AllReduce ? Collective::Broadcast : Collective::AllReduce;
}

}  // namespace

const char* to_string(FaultKind kind) { return kNames[static_cast<std::size_t>(kind)].data(); }

std::span<const std::string_view> fault_names() { return kNames; }

Result<FaultKind> parse_fault_kind(std::string_view text) {
  const auto found = std::ranges::find(kNames, text);
  if (found != kNames.end()) return static_cast<FaultKind>(found - kNames.begin());
  return Error{ErrorCode::InvalidArgument, fmt::format("unknown fault '{}'", text),
               suggestion(text, kNames)};
}

Result<FaultPlan> FaultPlan::drawn_for(int nranks, std::int64_t calls) const {
  FaultPlan plan = *this;
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    Fault& fault = plan.faults[i];
    RINGSIDE_TRY(check_rank(fault.rank, "rank", fault.kind, nranks));
    RINGSIDE_TRY(check_rank(fault.from, "from", fault.kind, nranks));
    RINGSIDE_TRY(check_rank(fault.to, "to", fault.kind, nranks));
    // The seed depends on the fault's place in the plan, so a fault draws the same values whatever the other faults
    // draw.
    Random random(seed + (i + 1) * 0x9e3779b97f4a7c15U);
    const int rank = static_cast<int>(random.below(nranks));
    const std::int64_t call = random.between(calls / 4, std::max(calls / 4, calls - 1));
    if (is_link_fault(fault.kind)) {
      if (!fault.from) fault.from = rank;
    } else {
      if (!fault.rank) fault.rank = rank;
      if (!fault.call) fault.call = call;
    }
  }
  return plan;
}

FaultableCall changed_by(const Fault& fault, FaultableCall call, int nranks) {
  switch (fault.kind) {
    case FaultKind::WrongCount:
      call.count = fault.count.value_or(call.count + std::max<std::int64_t>(1, call.count / 2));
      break;
    case FaultKind::WrongType:
      call.type = fault.type.value_or(size_of(call.type) == Bytes{8} ? DataType::Float32
                                                                     : DataType::Float64);
      break;
    case FaultKind::WrongOp:
      call.op = fault.op.value_or(call.op == RedOp::Sum ? RedOp::Max : RedOp::Sum);
      break;
    case FaultKind::WrongCollective:
      call.collective = fault.collective.value_or(other_than(call.collective));
      break;
    case FaultKind::WrongRoot:
      call.root = fault.root.value_or((call.root + 1) % nranks) % nranks;
      break;
    default:
      break;
  }
  return call;
}

}  // namespace ringside

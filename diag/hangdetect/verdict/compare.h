#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// The difference between two calls with the same sequence number, the most severe first.
enum class Difference { None, Op, Type, Size, Root };

/// Returns the most severe difference between two ranks' calls of one collective.
///
/// Sizes are compared as element counts, because NCCL sees a flat buffer: for a gather only the input, for a scatter
/// only the output, for an all-to-all not at all, because its sizes may differ between ranks. Types, labels and roots are
/// compared only if both calls state them.
Difference difference_of(const Signature& a, const Signature& b);

/// Returns a hash that is equal for two calls if difference_of() returns None for them and both state, or both lack, the
/// type, the label and the root.
std::uint64_t likeness_of(const Signature& signature);

/// Ranks that made the same call at a front.
struct Side {
  std::uint32_t signature = 0;  ///< number in Names
  std::vector<int> ranks;
};

/// Groups the members of a front by their call, the largest group first. Calls without a difference_of() are on one side,
/// except for an all-to-all whose sizes were equal on all ranks in the calls before: it is split by size. Members whose call
/// is no longer in their dump, or has no name, are omitted. A call of a log line without a type joins the only side that
/// differs in nothing else; if several sides fit, its rank is omitted; if none does, it is a side of its own.
std::vector<Side> sides_of(const Job& job, const Front& front);

/// Returns the first call of the group in which members differ, whether it has ended or not; `waiting` holds the
/// members that made it. Only calls that are still in the dumps are compared. Returns nothing if all of them agree.
std::optional<Front> first_difference(const Job& job, int group);

}  // namespace ringside::hang

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// In what two calls of one number differ, the gravest first.
enum class Difference { None, Op, Type, Size, Root };

/// Whether two ranks' halves of one collective fit each other.
///
/// Only what must be equal counts: elements, not shapes (NCCL sees a flat buffer); of a gather what goes
/// in, of a scatter what comes out; nothing of an all-to-all, whose ranks may differ.
Difference difference_of(const Signature& a, const Signature& b);

/// Equal for calls between which difference_of() is None.
std::uint64_t likeness_of(const Signature& signature);

/// Ranks that made the same call at a front.
struct Side {
  std::uint32_t signature = 0;
  std::vector<int> ranks;
};

/// What was called at the front, by those whose call is still kept; most ranks first.
std::vector<Side> sides_of(const Job& job, const Front& front);

/// The first call of the group in which members whose calls are kept differ, whether it has ended or not;
/// those that made it count as waiting in it.
/// returns  nothing where all that can be compared agree
std::optional<Front> first_difference(const Job& job, int group);

}  // namespace ringside::hang

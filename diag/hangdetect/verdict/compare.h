#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diag/hangdetect/model/blocks.h"
#include "diag/hangdetect/model/job.h"

namespace ringside::hang {

/// How two calls of one number differ, the gravest first.
enum class Difference { None, Op, Type, Size, Root };

/// Whether two ranks' halves of one collective fit each other.
///
/// Only what must be equal counts: elements, not shapes (NCCL sees a flat buffer); of a gather the input, of a
/// scatter the output; nothing of an all-to-all, whose ranks may differ.
Difference difference_of(const Signature& a, const Signature& b);

/// A hash that is equal for calls between which difference_of() is None.
std::uint64_t likeness_of(const Signature& signature);

/// Ranks that made the same call at a front.
struct Side {
  std::uint32_t signature = 0;
  std::vector<int> ranks;
};

/// The sides at the front, of members whose call is still kept; most ranks first.
std::vector<Side> sides_of(const Job& job, const Front& front);

/// The first call of the group in which members whose calls are kept differ, whether it has ended or not; the members
/// that made it count as waiting in it.
/// returns  nothing where everything comparable agrees
std::optional<Front> first_difference(const Job& job, int group);

}  // namespace ringside::hang

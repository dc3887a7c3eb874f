#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::job {

/// `3` of the last `[Rank 3]`, else `[rank3]`, inside a line. Before PyTorch 2.2 it is the place in the group, which
/// is the default group there.  returns  -1: there is none
int rank_in_text(std::string_view line);

/// `6` of `rank 6: ...`, `rank=6 step=100`: a line that begins with its rank, as people and programs write it.
/// returns  -1: the line does not begin so
int rank_before_text(std::string_view line);

/// The ranks of `[Rank 1-7]` or `[Rank 0, 2]`, as people write for many lines.
/// returns  empty: there is none, or it lists implausibly many ranks
std::vector<std::int32_t> ranks_in_brackets(std::string_view line);

}  // namespace ringside::job

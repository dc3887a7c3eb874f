#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ringside::job {

/// Returns the rank in the last `[Rank 3]` of a line, else in `[rank3]`; -1 if there is none. Before PyTorch 2.2 the
/// number is the rank in the group, which is then the default group.
int rank_in_text(std::string_view line);

/// Returns the rank at the start of a line, 6 for `rank 6: ...` or `rank=6 step=100`; -1 if there is none.
int rank_before_text(std::string_view line);

/// Returns the ranks of `[Rank 1-7]` or `[Rank 0, 2]`, which people write for the lines of several ranks. Returns none
/// if there is no such list, it has implausibly many ranks, or a rank of kMostRanks (world_size.h) or more.
std::vector<std::int32_t> ranks_in_brackets(std::string_view line);

}  // namespace ringside::job

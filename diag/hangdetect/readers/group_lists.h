#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::hang {

/// Which ranks are in which group of a kind: by `tp`, `dp`, `pp`, `ep`, `cp`, `sp`.
using GroupLists = std::map<std::string, std::vector<std::vector<int>>>;

/// Reads a person's or a program's lists: `tp = [0,1],[2,3]   dp = [0,2],[1,3]`,
/// `data parallel groups: [[0, 2], [1, 3]]`. Adds what it finds.
void read_group_lists(std::string_view line, GroupLists& groups);

}  // namespace ringside::hang

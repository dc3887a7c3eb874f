#pragma once

#include <cstddef>
#include <string_view>

namespace ringside::logs {

/// `host:pid:tid [3] ` that no level follows: what a collector put before the rest of a line that it had cut.
/// returns  its size, 0: it is none
std::size_t prefix_without_level(std::string_view text);

/// What a launcher or a collector put before both pieces of a line: `[1,3]<stderr>:`, `3: `, `(pid=77) `.
/// returns  its size, 0: nothing
std::size_t common_tag(std::string_view line, std::string_view next);

}  // namespace ringside::logs

#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::logs {

/// Flag in the ends of lines: the line has a control character other than a tab.
inline constexpr std::uint32_t kOddLine = std::uint32_t{1} << 31;

/// Finds the ends of lines in a block.
///
/// ends     set to the offset of each '\n', with kOddLine if the line has a control character other than a tab; must
///          have room for `size` entries
/// is_odd   in: the line's bytes before the block have such a character; out: the bytes after the last '\n' have one
/// returns  the number of lines that end in the block
/// shape    size < 2^31
std::size_t find_line_ends(const char* data, std::size_t size, std::uint32_t* ends, bool& is_odd);

}  // namespace ringside::logs

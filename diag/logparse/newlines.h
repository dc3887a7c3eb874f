#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::logs {

inline constexpr std::uint32_t kOddLine = std::uint32_t{1} << 31;

/// Finds the ends of lines in a block.
///
/// ends     gets the place of each '\n', with kOddLine set if there is a control character other than a tab
///          between it and the one before; room for `size` of them
/// is_odd   in: there was one in the bytes before the block; out: there is one after the last '\n'
/// returns  how many there are
/// shape    size < 2^31
std::size_t find_line_ends(const char* data, std::size_t size, std::uint32_t* ends, bool& is_odd);

}  // namespace ringside::logs

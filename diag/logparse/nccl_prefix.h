#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::logs {

/// `n01:411:980 [3] NCCL INFO `, `n01:411:980 [3] init.cc:77 (f) NCCL WARN `,
/// `n01:411:980 [3] 1.5 f:77 NCCL TRACE `, `n01:411:980 NCCL CALL `
struct NcclPrefix {
  std::string_view host;
  std::int32_t pid = -1;
  std::int32_t tid = -1;
  std::int16_t device = -1;
  Level level = Level::None;
  std::uint32_t begin = 0;  ///< offset of the prefix
  std::uint32_t end = 0;    ///< offset of the message
};

class Cursor;

/// Reads the text after `NCCL`: a blank, the level, and a blank or the end. If it returns false, some of the text may
/// be consumed.
bool take_level(Cursor& cursor, Level& level);

/// Reads a prefix at the start of a line. Returns false if there is none.
bool read_nccl_prefix(std::string_view line, NcclPrefix& prefix);

/// Finds the first prefix at or after `from`. In a torn line, `host` may begin with characters of the text before it;
/// the caller compares it with known hosts. Returns false if there is none.
bool find_nccl_prefix(std::string_view line, std::size_t from, NcclPrefix& prefix);

}  // namespace ringside::logs

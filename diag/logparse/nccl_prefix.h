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
  std::uint32_t begin = 0;  ///< where it starts
  std::uint32_t end = 0;    ///< where the message starts
};

class Cursor;

/// Takes what follows `NCCL`: a blank, the level's word, and a blank or the end.  returns  false: some of it may be
/// taken
bool take_level(Cursor& cursor, Level& level);

/// A prefix at the very start of a line.
bool read_nccl_prefix(std::string_view line, NcclPrefix& prefix);

/// The first prefix at or after `from`, anywhere in the line. Its host may include letters of the torn line's earlier
/// text: the characters before `begin` belong to it only as far as a known host does.
bool find_nccl_prefix(std::string_view line, std::size_t from, NcclPrefix& prefix);

}  // namespace ringside::logs

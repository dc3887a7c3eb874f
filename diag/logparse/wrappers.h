#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::logs {

/// The prefixes that launchers and collectors of logs add to a line.
struct Wrapping {
  std::int32_t launcher_rank = -1;
  std::int32_t local_rank = -1;
  std::int32_t pid = -1;
  std::string_view host;     ///< or pod
  std::int64_t time_us = 0;  ///< 0: none
  bool is_partial = false;   ///< CRI: the line goes on in the next one
  bool is_doubtful = false;  ///< has `n01: ` or `[3] `, which may be text
  std::uint32_t size = 0;    ///< bytes taken
};

/// Takes all prefixes from the start of a line, in any order, until none is left; prefixes that may be text only if
/// `with_doubtful`: the caller knows whether an NCCL prefix follows them.
/// source  docs/formats 1.8
Wrapping strip_wrappers(std::string_view line, bool with_doubtful);

/// A JSON object for each line, as docker, journald and collectors write it: appends the unescaped text of its `log`,
/// `message`, `msg`, `text`, `line` or `MESSAGE` to `text`.
/// returns  false: no such object. `time_us`: of its `time`, `timestamp` or `ts`; 0: none
bool unwrap_json_line(std::string_view line, std::string& text, std::int64_t& time_us);

/// `2025-03-01T10:11:12.123456789Z`, `2025-03-01 10:11:12,123`: microseconds since 1970, the zone ignored.
/// returns  bytes taken, 0: no time
std::uint32_t read_time(std::string_view text, std::int64_t& time_us);

}  // namespace ringside::logs

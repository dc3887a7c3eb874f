#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::logs {

/// The values in the prefixes that launchers and log collectors add to a line. -1, 0 and empty mean none.
struct Wrapping {
  std::int32_t launcher_rank = -1;
  std::int32_t local_rank = -1;
  std::int32_t pid = -1;
  std::string_view host;     ///< host or pod
  std::int64_t time_us = 0;  ///< 0: none
  bool is_partial = false;   ///< CRI log format: the next line continues this one
  bool is_doubtful = false;  ///< a prefix such as `n01: ` or `[3] ` may also be the program's text
  std::uint32_t size = 0;    ///< length of all prefixes in bytes
};

/// Reads all prefixes at the start of a line, in any order.
/// with_doubtful  also reads prefixes that may be the program's text, if the caller knows that an NCCL prefix follows
/// source  docs/formats 1.8
Wrapping strip_wrappers(std::string_view line, bool with_doubtful);

/// A JSON object for each line, as docker, journald and collectors write it: appends the unescaped text of its `log`,
/// `message`, `msg`, `text`, `line` or `MESSAGE` to `text`.
/// time_us  set to the object's `time`, `timestamp` or `ts`; 0: none
/// returns  false if the line is not such an object
bool unwrap_json_line(std::string_view line, std::string& text, std::int64_t& time_us);

/// Reads a time, `2025-03-01T10:11:12.123456789Z` or `2025-03-01 10:11:12,123`, as microseconds since 1970; ignores the
/// zone. Returns the length of the time in bytes, 0 if there is none.
std::uint32_t read_time(std::string_view text, std::int64_t& time_us);

}  // namespace ringside::logs

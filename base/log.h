#pragma once

#include <string>

namespace ringside {

enum class LogLevel { Warn, Info };

/// Writes one line to stderr in NCCL's format, `host:pid:tid [rank] NCCL WARN text`, so that
/// whoever reads NCCL's log reads ours. What is shown follows NCCL_DEBUG (unset or WARN: warnings
/// only; INFO, TRACE: all; NONE: nothing). One write call a line: lines never tear.
///
/// Threads   any
void log_line(LogLevel level, const std::string& text);

/// The rank that later lines of this process carry in brackets; -1 before it is known.
void set_log_rank(int rank);

}  // namespace ringside

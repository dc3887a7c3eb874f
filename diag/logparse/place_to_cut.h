#pragma once

#include <cstdint>
#include <string>

namespace ringside::logs {

/// Where a large file is cut in two: at `wanted`, or behind the JSON report of many lines that goes on there, which
/// one reader must have whole.
///
/// wanted   bytes from the start of a file without compression
/// returns  `wanted` too where the file cannot be read, or the report does not end within kMaxReport bytes
std::uint64_t place_to_cut(const std::string& file, std::uint64_t wanted);

}  // namespace ringside::logs

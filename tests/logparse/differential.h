#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Compares the reader of logs with a plain one of regular expressions, and with itself without learned lines. Each
/// expect_... stops at the first line that differs, and returns how many it compared.
namespace ringside::logs {

/// Returns one line of `one_of`, drawn with a fixed seed, from each of these files.
std::vector<std::string> some_lines(const std::vector<std::string>& logs, unsigned one_of);

/// Expects that the fast and the plain reader return the same for these lines and for random mutations of them.
std::size_t expect_readers_agree(const std::vector<std::string>& lines);

/// Expects that what the reader has learned from a line does not change how it reads similar lines.
std::size_t expect_known_lines_change_nothing(const std::vector<std::string>& lines);

}  // namespace ringside::logs

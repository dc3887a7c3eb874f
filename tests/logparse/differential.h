#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Compares the reader of logs with a plain one of regular expressions, and with itself without learned lines. Each
/// expect_... stops at the first line that differs, and returns how many it compared.
namespace ringside::logs {

/// One line of `one_of`, drawn by a fixed seed, of each of these files.
std::vector<std::string> some_lines(const std::vector<std::string>& logs, unsigned one_of);

/// The fast and the plain reader make the same of these lines and of random mutations of them.
std::size_t expect_readers_agree(const std::vector<std::string>& lines);

/// Knowledge from a line changes nothing about lines like it.
std::size_t expect_known_lines_change_nothing(const std::vector<std::string>& lines);

}  // namespace ringside::logs

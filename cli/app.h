#pragma once

#include <string>
#include <vector>

#include "base/command_text.h"

namespace ringside::cli {

/// Runs the command line without its first word: finds the verb, parses, runs it, prints at most one error to stderr.
/// returns  the exit status (cli/verb.h)
int run_words(std::vector<std::string> words);

/// Returns the whole command line; `gui` without its options, which the window's program parses.
CommandText command_line_text();

}  // namespace ringside::cli

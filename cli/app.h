#pragma once

#include <string>
#include <vector>

namespace ringside::cli {

/// Runs the command line without its first word: finds the verb, parses, runs it, prints at most one error to stderr.
/// returns  the exit status (cli/verb.h)
int run_words(std::vector<std::string> words);

}  // namespace ringside::cli

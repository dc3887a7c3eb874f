#pragma once

#include <string>
#include <vector>

namespace ringside::cli {

/// The command line without its first word: finds the verb, parses, runs it, prints the one error that
/// there may be to stderr.
/// returns  the exit status (cli/verb.h)
int run_words(std::vector<std::string> words);

}  // namespace ringside::cli

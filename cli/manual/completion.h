#pragma once

#include <string>

#include "base/command_text.h"

namespace ringside::cli {

/// Return scripts that complete the verbs, the options of each verb and the values of options that take few; other words
/// as file names.
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace ringside::cli

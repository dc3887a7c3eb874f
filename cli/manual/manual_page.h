#pragma once

#include <string>

#include "base/command_text.h"

namespace ringside::cli {

/// Returns the manual page of the program, of all its verbs in one table, or of a verb, with the verbs below it; in
/// roff, for section 1. Pages differ by nothing but their input: a page has no date.
std::string manual_page(const CommandText& command, const std::string& version);

/// Returns the name of a command's page: ringside-trace.
std::string page_name(const CommandText& command);

}  // namespace ringside::cli

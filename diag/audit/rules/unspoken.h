#pragma once

#include <string>
#include <string_view>

#include "diag/audit/findings.h"

namespace ringside::audit {

/// Warnings of the library's that no finding quotes. `reason` says what the first grave one says, else what the first
/// says: most are harmless, unless a call fails behind them.
Evidence unquoted_warnings(const JobFacts& facts, Findings& findings, std::string& reason);

/// Where the reason is in the words of a network plugin (`NET/FasTrak ...`), the finding is of that plugin.
void say_if_plugin_fails(std::string_view reason, Finding& finding);

/// A warning without NCCL's prefix, as the library worded it.
std::string text_of_warning(std::string_view line);

}  // namespace ringside::audit

#pragma once

#include <string_view>

namespace ringside::cli {

/// Writes to stderr why the decisions of a release may be wrong, where its description says so.
/// release  as load_release(); anything else is silent, since who reads it has an error of its own
void note_unverified(std::string_view release);

}  // namespace ringside::cli

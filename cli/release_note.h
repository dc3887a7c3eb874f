#pragma once

#include <string_view>

namespace ringside::cli {

/// Writes to stderr why the decisions of a release may be wrong, if its description has such a
/// note.
/// release  as load_release(); prints nothing for an unknown release, as loading it fails
void note_unverified(std::string_view release);

}  // namespace ringside::cli

#pragma once

#include <string_view>

namespace ringside::cli {

/// Writes to stderr why the decisions of a release may be wrong, if its description has such a note.
/// release  as load_release(); an unknown one prints nothing, since loading it gives an error
void note_unverified(std::string_view release);

}  // namespace ringside::cli

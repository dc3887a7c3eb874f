#pragma once

#include <string>

#include "harness/hangs/recorder.h"

namespace ringside::hangs {

/// The snapshot as PyTorch writes it on a timeout: the pickle of its C++ pickler, protocol 2, with the
/// keys that the release's format has. Appends to `out`.
///
/// source  the opcodes that PyTorch's own dumps hold: strings by value in the memo, frames by identity
void append_pickle(const Program& program, const Snapshot& snapshot, const Recorder& recorder,
                   std::string& out);

/// The same as PyTorch's JSON dump: no frames, 0 for a time that is not known, text for the numbers of
/// pg_status, keys in the order of the alphabet, `entries` left out when empty. Appends to `out`.
void append_json(const Program& program, const Snapshot& snapshot, const Recorder& recorder,
                 std::string& out);

}  // namespace ringside::hangs

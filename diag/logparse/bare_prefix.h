#pragma once

#include <string_view>

#include "diag/logparse/nccl_prefix.h"

namespace ringside::logs {

/// The parts of NCCL's prefix that people keep when they quote a line: `NCCL WARN `, `[3] NCCL INFO `, `node-2 [3]
/// NCCL INFO `, `host:XXXX:XXXX [0] f.cc:77 NCCL WARN `, `... NCCL WARN `, a collector's own columns before it, or
/// the place in the
/// source alone: `init.cc:943 `.
///
/// returns  false: there is no part of it. `level` is None where only the place is present; `pid` and `device` are -1
///          and `host` is empty where they are missing
/// source   docs/formats 1.10
bool read_bare_prefix(std::string_view text, NcclPrefix& prefix);

/// `init.cc:943`, `misc/ibvwrap.cc:309`: a place in the sources of NCCL, RCCL or a plugin.
bool is_source_place(std::string_view word);

}  // namespace ringside::logs

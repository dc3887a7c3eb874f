#pragma once

#include <string_view>

#include "diag/logparse/nccl_prefix.h"

namespace ringside::logs {

/// Reads an incomplete NCCL prefix, as people quote it: `NCCL WARN `, `[3] NCCL INFO `, `node-2 [3] NCCL INFO `,
/// `host:XXXX:XXXX [0] f.cc:77 NCCL WARN `, `... NCCL WARN `, a collector's columns before it, or only the source
/// location: `init.cc:943 `.
///
/// prefix   `level` is None if there is only a location; `pid` and `device` are -1 and `host` is empty if missing
/// returns  false if the text begins with no part of a prefix
/// source   docs/formats 1.10
bool read_bare_prefix(std::string_view text, NcclPrefix& prefix);

/// Returns whether a word is a location in the sources of NCCL, RCCL or a plugin: `init.cc:943`, `misc/ibvwrap.cc:309`.
bool is_source_place(std::string_view word);

}  // namespace ringside::logs

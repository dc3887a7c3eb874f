#pragma once

#include <string_view>

#include "base/result.h"
#include "diag/hangdetect/readers/dump_builder.h"

namespace ringside::hang {

/// Parses a Flight Recorder dump in JSON, as PyTorch's _dump_nccl_trace_json() and ringside's recorder write it. JSON
/// dumps have no stacks, and write 0 for the pickle's None.
///
/// errors  Corrupt: broken JSON (the error names the byte), or JSON without a dump
Result<RankDump> parse_dump_json(std::string_view bytes, DumpBuilder& builder);

}  // namespace ringside::hang

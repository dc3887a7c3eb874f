#pragma once

#include <string_view>

#include "base/result.h"
#include "diag/hangdetect/readers/dump_builder.h"

namespace ringside::hang {

/// Reads a Flight Recorder dump in JSON, as PyTorch's _dump_nccl_trace_json() and our own recorder
/// write it. It has no stacks; None of the pickle is 0 here.
///
/// errors  Corrupt: broken JSON (the byte is named), or JSON that holds no dump
Result<RankDump> parse_dump_json(std::string_view bytes, DumpBuilder& builder);

}  // namespace ringside::hang

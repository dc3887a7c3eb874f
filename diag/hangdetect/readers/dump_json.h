#pragma once

#include <string_view>

#include "base/result.h"
#include "diag/hangdetect/readers/dump_builder.h"

namespace ringside::hang {

/// Parses a Flight Recorder dump in JSON, as PyTorch's _dump_nccl_trace_json() and ringside's recorder write it. JSON
/// dumps have no stacks, and write 0 for the pickle's None.
///
/// If the document ends early or is damaged, nested more than 64 deep, or larger than check_size() allows, the calls
/// before that place are returned, and RankDump::torn_at is set.
///
/// errors  Corrupt: no call before such a place (the error names the byte of broken JSON), or JSON without a dump
Result<RankDump> parse_dump_json(std::string_view bytes, DumpBuilder& builder);

}  // namespace ringside::hang

#pragma once

#include <string_view>

#include "base/result.h"
#include "diag/hangdetect/readers/dump_builder.h"

namespace ringside::hang {

/// Reads a Flight Recorder pickle without executing code from it.
///
/// The reader supports the opcodes that build plain data: those of PyTorch's pickler, and those that Python adds when
/// it saves such a dump again (protocols 2 to 5). It refuses a pickle at the first other opcode, such as one that names
/// or calls a class or function.
///
/// A truncated file (its process was killed while writing) gives the calls before the end, with `torn_at` set.
///
/// errors  Corrupt: an unsupported opcode, with its name and offset; invalid pickle; no dump in the pickle
/// source  Python Lib/pickletools.py; PyTorch torch/csrc/jit/serialization/pickler.h
Result<RankDump> parse_pickle(std::string_view bytes, DumpBuilder& builder);

/// Returns whether the bytes begin like a pickle of protocol 2 or later.
bool looks_like_pickle(std::string_view bytes);

}  // namespace ringside::hang

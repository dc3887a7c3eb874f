#pragma once

#include <string_view>

#include "base/result.h"
#include "diag/hangdetect/readers/dump_builder.h"

namespace ringside::hang {

/// Reads a Flight Recorder pickle: data, never code.
///
/// Only opcodes that build plain data are known: those that PyTorch's own pickler writes, and those that
/// Python adds when it saves such a dump again (protocols 2 to 5). A pickle that names a class or
/// function, calls one, or holds any other opcode is refused at that byte; nothing is looked up or run.
///
/// A file that ends in the middle (its process was killed while it wrote) gives what it holds, with
/// `torn_at` set.
///
/// errors  Corrupt: an opcode that is not data, with its name and offset; broken grammar; no dump in it
/// source  Python Lib/pickletools.py; PyTorch torch/csrc/jit/serialization/pickler.h
Result<RankDump> parse_pickle(std::string_view bytes, DumpBuilder& builder);

/// Whether the bytes begin as a pickle of protocol 2 or later does.
bool looks_like_pickle(std::string_view bytes);

}  // namespace ringside::hang

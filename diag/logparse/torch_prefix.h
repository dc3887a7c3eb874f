#pragma once

#include "diag/logparse/torch_lines.h"

namespace ringside::logs {

/// Reads a prefix at the start of a text: `[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [PG ID 4 PG GUID 11(tp)
/// Rank 1] `. Returns its length in bytes, or 0 if the line is not from PyTorch's logger.
std::uint32_t read_torch_prefix(std::string_view text, TorchPrefix& prefix);

}  // namespace ringside::logs

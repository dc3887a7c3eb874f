#pragma once

#include "diag/logparse/torch_lines.h"

namespace ringside::logs {

/// `[E301 10:20:30.123456789 ProcessGroupNCCL.cpp:632] [PG ID 4 PG GUID 11(tp) Rank 1] ` at the start of a text.
/// returns  bytes taken; 0: no line of PyTorch's logger
std::uint32_t read_torch_prefix(std::string_view text, TorchPrefix& prefix);

}  // namespace ringside::logs

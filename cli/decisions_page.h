#pragma once

#include <string>

#include "base/result.h"

namespace ringside::cli {

/// docs/decisions.md: what NCCL does with an all-reduce on each preset, as Markdown.
/// only    the one source to tell of; empty: all presets
/// errors  as load_hosts()
Result<std::string> decisions_page(const std::string& only);

}  // namespace ringside::cli

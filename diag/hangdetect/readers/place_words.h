#pragma once

#include <string>
#include <string_view>

#include "diag/logparse/record.h"

namespace ringside::hang {

/// Where what a line tells of happened: `pod sft-worker-2`, `node n117`, `process 40912 (pt_main_thread) on node-1`.
///
/// host     that stands before the line, or above it; empty: none
/// returns  empty: the line does not say
std::string place_in(const logs::Record& record, std::string_view host);

}  // namespace ringside::hang

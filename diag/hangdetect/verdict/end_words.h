#pragma once

#include <cstdint>
#include <string>

#include "diag/hangdetect/readers/log_facts.h"

namespace ringside::hang {

/// What a watchdog, a launcher or a scheduler does to a process: an abort after a time-out, a termination.
bool is_consequence(std::int64_t code);

/// `signal 9 (killed: ..)`, `exit status 1`
std::string signal_text(std::int64_t code);

/// What a line says of a GPU's failure: most are the program's own doing, and the device is well.
std::string fault_text(const LogStatement& one, const std::string& who);

}  // namespace ringside::hang

#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "diag/hangdetect/examine.h"

namespace ringside::cli {

/// Examines the job whose RAS service listens at this port of loopback.
/// errors  as ask_job()
Result<std::unique_ptr<hang::Examination>> examine_live(std::uint16_t port);

}  // namespace ringside::cli

#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "diag/hangdetect/examine.h"

namespace ringside::cli {

/// Queries a job's status service on this host (`bench --status`, or NCCL's own RAS) twice, some
/// seconds apart, and examines the answers: a job whose counts grow does not hang.
/// port    loopback port of the service
/// errors  PeerGone, Timeout: no service answers there; as hang::examine()
Result<std::unique_ptr<hang::Examination>> examine_live(std::uint16_t port);

}  // namespace ringside::cli

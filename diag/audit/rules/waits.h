#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "diag/audit/findings.h"
#include "diag/job/watchdog_waits.h"

namespace ringside::audit {

/// The lines that tell what a rank waits in, and how far it had come.
inline constexpr std::array kWatchdogLines = {
    logs::MessageId::WatchdogTimeout, logs::MessageId::WatchdogStatus, logs::MessageId::DumpSignal};

/// Who waits for what, of all ranks that a watchdog speaks for. Who is late, and why, hangdetect says.
struct Waits {
  std::map<std::int32_t, job::Wait> calls = {};  ///< by global rank: the first that timed out
  std::set<std::int32_t> timed_out = {};         ///< also those of whom only a status tells
};

Waits waits_of(const JobFacts& facts);

/// `[rank3]:` or what else a line says of its rank; -1: nothing.
std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message);

}  // namespace ringside::audit

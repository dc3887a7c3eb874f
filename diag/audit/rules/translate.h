#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "diag/audit/findings.h"
#include "diag/audit/hang_view.h"

namespace ringside::audit {

/// The lines that tell what a rank waits in, and how far it had come.
inline constexpr std::array kWatchdogLines = {
    logs::MessageId::WatchdogTimeout, logs::MessageId::WatchdogStatus, logs::MessageId::DumpSignal};

/// `[rank3]:` or what else a line says of its rank; -1: nothing.
std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message);

/// Which of hangdetect's explanations a rule asks for.
enum class HangsOf : std::uint8_t {
  Mismatch,  ///< ranks called different things
  Path,      ///< a rank did not come, or all came and nothing moves
  End,       ///< a rank's process ended, or it left the job
  Any,
};

/// Adds a finding for what hangdetect says of these lines: the row of its kind, its ranks, reasons and next step. Of
/// several explanations the surest of each row counts. Nothing is asked where none of the messages is there.
/// returns  whether it says something that is sure enough to be told
bool translate_hang(const LinesOf& lines, HangsOf which, const JobFacts& facts, Findings& findings);

/// Of an explanation's confidence, in audit's steps.
Confidence confidence_of(double confidence);

/// What hangdetect's why says first, up to the reason that follows.
std::string title_of(const std::string& why);

/// Below it an explanation is a guess, and no finding.
inline constexpr double kWorthTelling = 0.4;

}  // namespace ringside::audit

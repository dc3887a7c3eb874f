#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "diag/audit/findings.h"
#include "diag/audit/hang_view.h"

namespace ringside::audit {

/// The lines that show what a rank waits in, and how far it had come.
inline constexpr std::array kWatchdogLines = {
    logs::MessageId::WatchdogTimeout, logs::MessageId::WatchdogStatus, logs::MessageId::DumpSignal};

/// The rank of a line, by `[rank3]:` or otherwise; -1: unknown.
std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message);

/// Which of hangdetect's explanations a rule handles.
enum class HangsOf : std::uint8_t {
  Mismatch,  ///< ranks made different calls
  Path,      ///< a rank did not arrive, or all arrived and nothing moves
  End,       ///< a rank's process ended, or it left the job
  Any,
};

/// Adds a finding for hangdetect's explanation of these lines: the row of its kind, its ranks, reasons and next step.
/// Of several explanations the most certain of each row counts. Does nothing if there is none of the messages.
/// returns  whether an explanation is certain enough to be reported
bool translate_hang(const LinesOf& lines, HangsOf which, const JobFacts& facts, Findings& findings);

/// Converts an explanation's confidence to audit's steps.
Confidence confidence_of(double confidence);

/// The first statement of hangdetect's why, without the reason that follows.
std::string title_of(const std::string& why);

/// Below it an explanation is a guess, and not a finding.
inline constexpr double kReportable = 0.4;

}  // namespace ringside::audit

#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "diag/audit/findings.h"
#include "diag/audit/hang_view.h"

namespace ringside::audit {

/// The watchdog messages that show a rank's blocked call and its last enqueued and completed calls.
inline constexpr std::array kWatchdogLines = {
    logs::MessageId::WatchdogTimeout, logs::MessageId::WatchdogStatus, logs::MessageId::DumpSignal};

/// Returns the rank of the job that wrote a line, by `[rank3]:` or its launcher's prefix; -1 if unknown.
std::int32_t global_rank_of(const JobFacts& facts, const KeptMessage& message);

/// Returns the same, or else the rank that the line's text gives, which may be one within a group; -1 if there is none.
std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message);

/// Selects the explanations of hangdetect that a rule handles.
enum class HangsOf : std::uint8_t {
  Mismatch,  ///< ranks made different calls
  Path,      ///< a rank did not join a call, or all joined and the call hangs
  End,       ///< a rank's process ended, or it left the job
  Any,
};

/// Adds a finding for each type of explanation that hangdetect gives for these lines, with its ranks, reasons and next
/// step. Of several explanations of one type, the most certain counts. Does nothing if none of the messages was logged.
/// returns  whether an explanation is certain enough to be reported (kReportable)
bool translate_hang(const LinesOf& lines, HangsOf which, const JobFacts& facts, Findings& findings);

/// Converts an explanation's confidence, 0 .. 1, to Low, Medium or High.
Confidence confidence_of(double confidence);

/// Returns the first statement of an explanation's why_of(), without the reason after it.
std::string title_of(const std::string& why);

/// The lowest confidence with which an explanation becomes a finding.
inline constexpr double kReportable = 0.4;

}  // namespace ringside::audit

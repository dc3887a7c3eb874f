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

/// Returns the same, or else the rank that the line's text gives, `[Rank 3]`; -1 if there is none, or if the line is of a
/// subgroup, in which ranks have other numbers.
std::int32_t rank_of(const JobFacts& facts, const KeptMessage& message);

/// The lowest confidence with which an explanation becomes a finding. It divides the grounds that alone are worth a report,
/// whose weight is -0.20 (confidence 0.45) or more, from those that are not, such as PeerLost with -0.85 (0.30).
/// source  diag/hangdetect/verdict/weights.def
inline constexpr double kReportable = 0.4;

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

/// Converts an explanation's confidence, 0 .. 1: High from 0.8 on (the evidence is complete for its kind of hang), Medium
/// from 0.5 on, else Low.
Confidence confidence_of(double confidence);

/// Returns the first statement of an explanation's why_of(), without the reason after it.
std::string title_of(const std::string& why);

}  // namespace ringside::audit

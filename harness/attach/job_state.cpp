#include "harness/attach/job_state.h"

#include <fmt/format.h>

#include <utility>

#include "base/append.h"

namespace ringside::attach {
namespace {

/// Counts and states of all ranks.
std::string fingerprint_of(const hang::RasReport& report) {
  std::string text;
  for (const hang::RasCommunicator& communicator : report.communicators) {
    append(text, "{:x}:", communicator.hash);
    for (const hang::RasMember& member : communicator.members) {
      append(text, "{},{},{},{},{};", member.place, member.total(), member.completed,
             member.operations, member.is_missing);
    }
  }
  return text;
}

/// The text without its times, which differ in each report: `(0.02s)`, `2026-11-27 11:45:35`, `took 12 ms`.
std::string fingerprint_of(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    for (std::size_t at = 0; at < line.size();) {
      std::size_t stop = line.find_first_of(" \t", at);
      if (stop == std::string_view::npos) stop = line.size();
      const std::string_view word = line.substr(at, stop - at);
      at = stop + 1;
      const bool is_time = word.find(':') != std::string_view::npos ||
                           (word.find('.') != std::string_view::npos && word.ends_with("s)")) ||
                           (word.size() == 10 && word.find('-') == 4);
      if (word.empty() || is_time) continue;
      kept += word;
      kept += ' ';
    }
    kept += '\n';
  }
  return kept;
}

}  // namespace

const char* to_string(JobState state) {
  switch (state) {
    case JobState::Moves:
      return "moves";
    case JobState::Still:
      return "still";
    case JobState::Gone:
      return "gone";
    case JobState::Unknown:
      break;
  }
  return "unknown";
}

Result<JobReport> JobReport::read(RasAnswer answer) {
  JobReport report;
  report.answer = std::move(answer);
  if (report.answer.is_json) {
    RINGSIDE_TRY(report.parsed, hang::parse_ras_report(report.answer.text));
    report.fingerprint = fingerprint_of(*report.parsed);
  } else {
    report.fingerprint = fingerprint_of(report.answer.text);
  }
  return report;
}

void Movement::add(const JobReport& report) {
  const bool is_first = same_ == 0;
  if (is_first || report.fingerprint != last_) {
    changed_ += is_first ? 0 : 1;
    same_ = 1;
  } else {
    changed_ = 0;
    ++same_;
  }
  last_ = report.fingerprint;
}

JobState Movement::state() const {
  if (same_ >= enough_) return JobState::Still;
  return changed_ >= enough_ - 1 ? JobState::Moves : JobState::Unknown;
}

}  // namespace ringside::attach

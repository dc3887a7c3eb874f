#include "harness/attach/job_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

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

namespace {

/// `rank 3`, `ranks 3, 5 and 12 more`
std::string list_of(const std::vector<int>& ranks) {
  constexpr std::size_t kShown = 4;
  const std::span<const int> first(ranks.data(), std::min(kShown, ranks.size()));
  return fmt::format(
      "rank{} {}{}", ranks.size() == 1 ? "" : "s", fmt::join(first, ", "),
      ranks.size() > kShown ? fmt::format(" and {} more", ranks.size() - kShown) : "");
}

/// The calls that the ranks of one communicator have launched.
struct Spread {
  const hang::RasCommunicator* communicator = nullptr;
  std::int64_t least = 0, most = 0;
  std::vector<int> last = {}, silent = {};
};

Spread spread_of(const hang::RasCommunicator& communicator) {
  Spread spread{.communicator = &communicator};
  bool is_first = true;
  for (const hang::RasMember& member : communicator.members) {
    if (member.is_missing) {
      spread.silent.push_back(member.place);
      continue;
    }
    const std::int64_t calls = member.total();
    if (is_first || calls < spread.least) spread.last.clear();
    spread.least = is_first ? calls : std::min(spread.least, calls);
    spread.most = is_first ? calls : std::max(spread.most, calls);
    if (calls == spread.least) spread.last.push_back(member.place);
    is_first = false;
  }
  return spread;
}

}  // namespace

std::string progress_text(const hang::RasReport& report) {
  Spread widest;
  for (const hang::RasCommunicator& communicator : report.communicators) {
    Spread one = spread_of(communicator);
    const auto order = [](const Spread& spread) {
      return std::tuple(spread.most - spread.least, spread.silent.size(),
                        spread.communicator == nullptr ? 0 : spread.communicator->size);
    };
    if (widest.communicator == nullptr || order(one) > order(widest)) widest = std::move(one);
  }
  if (widest.communicator == nullptr) return "no communicator";
  std::string text = fmt::format("communicator {:#x} of {} ranks: ", widest.communicator->hash,
                                 widest.communicator->size);
  text += widest.least == widest.most
              ? fmt::format("{} calls launched by each", widest.most)
              : fmt::format("{} to {} calls launched, fewest by {}", widest.least, widest.most,
                            list_of(widest.last));
  if (!widest.silent.empty()) {
    text += fmt::format("; {} {} not answer", list_of(widest.silent),
                        widest.silent.size() == 1 ? "does" : "do");
  }
  return text;
}

Result<JobReport> JobReport::read(RasAnswer answer) {
  JobReport report;
  report.answer = std::move(answer);
  if (report.answer.is_json) {
    RINGSIDE_TRY(report.parsed, hang::parse_ras_report(report.answer.text));
    report.fingerprint = fingerprint_of(*report.parsed);
  } else {
    const auto has = [&](std::string_view words) {
      return report.answer.text.find(words) != std::string::npos;
    };
    if (!has("NCCL version") && !has("Job summary") && !has("Communicators")) {
      return Error{ErrorCode::Corrupt, "the answer is no report of NCCL's RAS service",
                   "is that the port of NCCL_RAS_ADDR (28028 by default), or of bench --status?"};
    }
    report.fingerprint = fingerprint_of(report.answer.text);
  }
  return report;
}

void Movement::add(const JobReport& report) {
  hang::MissingRanks missing;
  if (report.parsed) missing = hang::missing_ranks(*report.parsed);
  // Ranks that answer may launch some more calls after another rank has stopped: what counts is what moves since then.
  const bool is_first = same_ == 0 || (!missing.empty() && missing != missing_);
  missing_ = std::move(missing);
  if (is_first) changed_ = 0;
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

void Pauses::add(int reports) {
  ++count_;
  second_ = std::max(second_, std::min(longest_, reports));
  longest_ = std::max(longest_, reports);
}

int Pauses::patience() const { return count_ < 2 ? first_ : second_ + second_ / 2; }

}  // namespace ringside::attach

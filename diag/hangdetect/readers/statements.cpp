#include "diag/hangdetect/readers/statements.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "diag/hangdetect/readers/line_words.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/paste.h"
#include "diag/logparse/torch_lines.h"

namespace ringside::hang {

using What = LogStatement::What;

void Statements::state(const logs::Record& record, LogStatement::What what, std::vector<int> ranks,
                       std::int64_t code, std::string detail) {
  if (facts_.statements.size() >= kMost) return;
  std::erase_if(ranks, [](int rank) { return rank < 0 || rank >= kMostRanks; });
  for (const int rank : ranks) facts_.world = std::max(facts_.world, rank + 1);
  if (ranks_kept_ + ranks.size() > kMostRanksKept) return;
  ranks_kept_ += ranks.size();
  places_.push_back(record.place);
  facts_.statements.push_back({what,
                               std::move(ranks),
                               code,
                               record.time_us,
                               std::string(record.text().substr(0, kShown)),
                               std::move(detail),
                               {},
                               -1});
}

void Statements::state_of(const logs::Record& record, LogStatement::What what, int rank,
                          std::int64_t code, std::string detail) {
  state(record, what, rank >= 0 ? std::vector<int>{rank} : std::vector<int>{}, code,
        std::move(detail));
}

namespace {

/// Notes the pause between two lines of steps.
void note_pause(std::int64_t pause_us, RunNotes& run) {
  if (pause_us > run.longest_step_us) {
    run.longest_step_us = pause_us;
    run.steps_after_pause = 0;
  }
  run.shortest_step_us =
      run.shortest_step_us == 0 ? pause_us : std::min(run.shortest_step_us, pause_us);
}

/// Returns whether the text is a question: its author asks, and states nothing.
bool asks(std::string_view text) {
  for (std::size_t at = text.find('?'); at != std::string_view::npos; at = text.find('?', at + 1)) {
    const bool is_of_word =
        at + 1 < text.size() && (logs::is_letter(text[at + 1]) || logs::is_digit(text[at + 1]));
    if (!is_of_word) return true;
  }
  return false;
}

/// Notes a line of a step: the number of the step, if the line has one, and the time since the last such line.
/// time_us  wall time of the line; 0: unknown
void note_step(const RunLine& line, int rank, std::int64_t time_us, RunNotes& run) {
  ++run.steps;
  run.alarming_since_step = 0;
  if (line.step < 0) {
    run.has_moved = run.has_moved || run.has_logged;
    run.has_logged = true;
    run.has_finished = run.has_ended = false;
    return;
  }
  const auto [known, is_first] = run.step_of.try_emplace(std::max(rank, -1), line.step);
  run.has_moved = run.has_moved || line.step > known->second;
  known->second = line.step;
  ++run.steps_after_pause;
  if (time_us > run.last_step_us) {
    if (run.last_step_us != 0) note_pause(time_us - run.last_step_us, run);
    run.last_step_us = time_us;
  }
  const bool is_last_of_all = line.of > 0 && line.step >= line.of;
  if (!is_last_of_all) run.has_finished = run.has_ended = false;
  run.steps_of = line.of;
  if (rank >= 0) run.ranks.insert(rank);
}

}  // namespace

void Statements::note_run(const logs::Record& record, const RunLine& line, int rank) {
  RunNotes& run = facts_.run;
  constexpr std::size_t kMostShown = 6;
  constexpr std::uint64_t kShownOfType = 2;
  const auto show = [&](std::uint64_t count) {
    if (count > kShownOfType || run.shown.size() >= kMostShown) return;
    shown_places_.push_back(record.place);
    run.shown.push_back({{}, -1, -1, std::string(record.text().substr(0, kShown))});
  };
  switch (line.what) {
    case RunLine::What::Step:
      note_step(line, rank, record.time_us, run);
      break;
    case RunLine::What::Finished:
      // The end is the evidence, and no longer what was logged before it.
      if (run.finished == 0) {
        shown_places_.clear();
        run.shown.clear();
      }
      run.has_finished = true;
      run.has_ended = !line.serves;
      show(++run.finished);
      break;
    case RunLine::What::Harmless:
      if (record.text().find(" found in ") != std::string_view::npos &&
          record.text().find("No available ") != std::string_view::npos)
        ++run.server_waits;
      ++run.harmless;
      if (!run.has_finished) show(run.harmless);
      break;
    case RunLine::What::Alarming:
      ++run.alarming;
      if (asks(record.text())) {
        ++run.questions;
      } else {
        Alarms& alarms = alarms_of_[record.place.piece];
        if (alarms.steps != run.steps) alarms.since_step = 0;
        alarms.steps = run.steps;
        ++alarms.all;
        ++alarms.since_step;
        ++run.alarming_since_step;
      }
      break;
    case RunLine::What::Other:
      // `Connection restored to ..`: the loss that the same log reported before is over.
      if (record.text().find("onnection restored") != std::string_view::npos) {
        Alarms& over = alarms_of_[record.place.piece];
        if (over.steps == run.steps) run.alarming_since_step -= over.since_step;
        run.alarming -= over.all;
        over = {};
      }
      ++facts_.unread;
      break;
  }
}

void Statements::note_line(const logs::Record& record, int rank) {
  // A line of PyTorch may have lost its head when the log was cut.
  const bool is_library = record.text().starts_with("[E") || record.text().starts_with("[W") ||
                          record.text().starts_with("[I") || logs::is_of_stack(record.text());
  if (rank < 0 || rank >= kMostRanks || is_library) return;
  const RunLine::What what = read_run_line(record.text()).what;
  RankNotes& notes = note(rank);
  notes.has_alarm = notes.has_alarm || what == RunLine::What::Alarming;
  const bool is_own = what == RunLine::What::Step || what == RunLine::What::Other;
  if (!is_own || notes.has_alarm) return;
  notes.last_line.text.assign(record.text().substr(0, kShown));
  notes.last_line.is_late = facts_.run.waits > 0 || facts_.timeouts > 0;
  line_places_[rank] = record.place;
}

void Statements::know_world(std::int64_t ranks) {
  if (ranks > 1 && ranks <= kMostRanks)
    facts_.known_world = std::max(facts_.known_world, static_cast<int>(ranks));
}

namespace {

/// Notes the furthest step and the ranks at it, by the last step of each rank: their lines come in any order, and a job
/// that restarts counts from an earlier step again.
void note_furthest(RunNotes& run) {
  for (const auto& [rank, step] : run.step_of) run.last_step = std::max(run.last_step, step);
  for (const auto& [rank, step] : run.step_of) {
    if (rank >= 0 && step == run.last_step) run.at_last_step.insert(rank);
  }
}

}  // namespace

void Statements::finish(const WhereFunction& where) {
  note_furthest(facts_.run);
  for (const auto& [rank, place] : line_places_) {
    LoggedLine& last = facts_.notes[rank].last_line;
    std::tie(last.file, last.line) = where(place);
  }
  for (std::size_t i = 0; i < facts_.statements.size(); ++i) {
    std::tie(facts_.statements[i].file, facts_.statements[i].line) = where(places_[i]);
  }
  for (std::size_t i = 0; i < facts_.run.shown.size(); ++i) {
    std::tie(facts_.run.shown[i].file, facts_.run.shown[i].line) = where(shown_places_[i]);
  }
  for (auto& [rank, last] : facts_.run.last_lines)
    std::tie(last.file, last.line) = where(last.place);
}

std::vector<int> ranks_gone(int first, std::string_view how) {
  std::vector<int> dead{first};
  constexpr std::string_view kOthers = ", and so did rank";
  const std::size_t at = how.find(kOthers);
  if (at == std::string_view::npos) return dead;
  how.remove_prefix(at + kOthers.size());
  const std::vector<int> others =
      logs::parse_rank_list(how.substr(std::min(how.size(), how.find(' ') + 1)));
  dead.insert(dead.end(), others.begin(), others.end());
  return dead;
}

void state_error(const logs::Record& record, std::string_view type, std::string_view text, int rank,
                 Statements& statements) {
  if (!is_of_communication(type, text)) {
    RankNotes& notes = statements.note(rank);
    notes.has_exception = true;
    constexpr std::size_t kLong = 160;
    notes.exception = (std::string(type) + ": " + std::string(text)).substr(0, kLong);
    statements.state_of(record, What::Exception, rank);
    return;
  }
  if (text.find("remote process exited") != std::string_view::npos) {
    statements.state_of(record, What::PeerLost, rank, -1);
    return;
  }
  constexpr std::size_t kShort = 120;
  const bool is_failed_call = text.find("NCCL error") != std::string_view::npos ||
                              text.find("RCCL error") != std::string_view::npos;
  if (is_failed_call)
    statements.state_of(record, What::Failure, rank, kRaised, std::string(text.substr(0, kShort)));
}

}  // namespace ringside::hang

#include "diag/hangdetect/readers/busy_lines.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ringside::hang {

namespace {

/// Returns the end of a line: of a progress bar, which is drawn again and again, the last state counts.
std::string end_of(std::string_view line) {
  return std::string(line.substr(line.size() - std::min(line.size(), Statements::kShown)));
}

}  // namespace

void BusyLines::take_timeout(const logs::Record& record) {
  timeouts_.try_emplace(record.place.piece, record.place.line);
}

void BusyLines::add(Event event) {
  const bool is_same = !events_.empty() && events_.back().is == event.is &&
                       events_.back().what == event.what && events_.back().rank == event.rank &&
                       events_.back().place.piece == event.place.piece &&
                       (event.what == What::Files || !timeouts_.contains(event.place.piece));
  // Of several events of one sort in a row the last counts: steps and bars are many.
  if (is_same && event.is != Event::Is::End) events_.pop_back();
  constexpr std::size_t kMost = 8192;
  if (events_.size() >= kMost) events_.pop_front();
  events_.push_back(std::move(event));
}

bool BusyLines::take(const logs::Record& record, int rank) {
  const job::Occupation doing = job::occupation_in(record.text());
  if (doing.what == What::None) return false;
  add({Event::Is::Occupation, doing.what, std::max(rank, -1), record.place, end_of(record.line),
       job::words_of(doing)});
  return true;
}

void BusyLines::take_step(const logs::Record& record) {
  add({Event::Is::Step, What::None, -1, record.place, {}, {}});
}

void BusyLines::take_end(const logs::Record& record, int rank) {
  if (rank >= 0) add({Event::Is::End, What::None, rank, record.place, end_of(record.line), {}});
}

void BusyLines::state(const Event& event, LogStatement::What what) {
  logs::Record record;
  record.place = event.place;
  record.line = event.text;
  statements_.state_of(record, what, event.rank, 0, event.words);
}

void BusyLines::finish_file(const std::vector<std::pair<std::int64_t, const Event*>>& events,
                            std::int64_t first_timeout) {
  constexpr std::int64_t kShortly = 40;  // lines: a program that goes on prints more
  std::map<int, const Event*> open;      // by rank
  for (const auto& [line, event] : events) {
    // A stack is taken while the others wait, or after.
    if (first_timeout >= 0 && line > first_timeout && event->what != What::Files) continue;
    const auto one = open.find(event->rank);
    const auto ends = [&](What begun) {
      if (one != open.end() && one->second->what == begun) open.erase(one);
    };
    if (event->is == Event::Is::End) {
      if (first_timeout >= 0) state(*event, LogStatement::What::LeftGroup);
    } else if (event->is == Event::Is::Step) {
      std::erase_if(open, [](const auto& some) { return some.second->what == What::Saving; });
    } else if (event->what == What::Saved) {
      ends(What::Saving);
    } else if (event->what == What::BarDone) {
      ends(What::Bar);
    } else {
      const bool is_long_ago = event->what == What::Saving && first_timeout - line > kShortly;
      if (!is_long_ago) open[event->rank] = event;
    }
  }
  for (const auto& [rank, event] : open) state(*event, LogStatement::What::Busy);
}

void BusyLines::finish(const WhereFunction& where) {
  if (timeouts_.empty()) return;              // no rank waited for it
  std::map<std::string, std::int64_t> first;  // by file
  for (const auto& [piece, line] : timeouts_) {
    const auto [file, at] = where({piece, line});
    const auto [known, is_new] = first.try_emplace(file, at);
    if (!is_new) known->second = std::min(known->second, at);
  }
  std::map<std::string, std::vector<std::pair<std::int64_t, const Event*>>> files;
  for (const Event& event : events_) {
    auto [file, line] = where(event.place);
    files[std::move(file)].emplace_back(line, &event);
  }
  for (auto& [file, events] : files) {
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto timeout = first.find(file);
    finish_file(events, timeout == first.end() ? -1 : timeout->second);
  }
}

}  // namespace ringside::hang

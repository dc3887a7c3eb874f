#include "diag/hangdetect/verdict/overcome.h"

#include <algorithm>
#include <map>
#include <string>

#include "diag/hangdetect/verdict/evidence.h"

namespace ringside::hang {
namespace {

/// The lines of one file that report trouble and progress.
struct FileStory {
  std::int64_t trouble = -1;              ///< place of the last line of trouble
  const facts::Progress* last = nullptr;  ///< last line of progress after the trouble
  int lines_after = 0;                    ///< number of lines of progress after the trouble
};

/// Returns whether processes or calls ended. Steps do not disprove deaths, failed calls and differing calls, because
/// another attempt of the job may have made the steps.
bool has_ended(const facts::Facts& facts) {
  return !facts.deaths.empty() || !facts.mismatches.empty() ||
         std::ranges::any_of(facts.calls, [](const facts::Call& one) {
           return one.state == facts::CallState::TimedOut || one.state == facts::CallState::Failed;
         });
}

/// Returns whether a person claims a hang. A person who only asks does not know.
bool is_claimed(const facts::Facts& facts) {
  return std::ranges::any_of(facts.progress, [](const facts::Progress& one) {
    return one.is_claimed_hang && one.source.text.find('?') == std::string::npos;
  });
}

}  // namespace

std::optional<Explanation> went_on(const facts::Facts& rows, const facts::Facts& stated) {
  if (has_ended(rows) || has_ended(stated)) return std::nullopt;
  std::map<std::string, FileStory> stories;
  const auto note = [&](const facts::Fact& one) {
    std::int64_t& last = stories[one.source.file].trouble;
    last = std::max(last, one.source.line);
  };
  for (const facts::Facts* facts : {&rows, &stated}) {
    for (const facts::Warning& one : facts->warnings) {
      // Harmless forms also count, because people mistake them for a hang.
      if (one.basis != facts::Basis::Person) note(one);
    }
    std::ranges::for_each(facts->link_faults, note);
    std::ranges::for_each(facts->blocked, note);
    for (const facts::Member& one : facts->members) {
      if (!one.missing.empty()) note(one);
    }
  }
  bool has_served = false;
  const facts::Progress* finish = nullptr;
  for (const facts::Progress& one : rows.progress) {
    if (one.is_claimed_hang || one.is_restarting || one.basis == facts::Basis::Person) continue;
    FileStory& story = stories[one.source.file];
    if (one.source.line <= story.trouble) continue;
    if (one.has_finished || (one.is_serving && has_served)) finish = &one;
    has_served = has_served || one.is_serving;
    // A fact of progress represents the first or the last of its lines.
    constexpr std::uint64_t kMany = 3;
    story.lines_after += one.times >= kMany ? 2 : 1;
    if (story.last == nullptr || story.last->source.line < one.source.line) story.last = &one;
  }
  const facts::Progress* shown = finish;
  bool had_trouble = false;
  for (const auto& [file, story] : stories) {
    if (story.trouble < 0) continue;
    had_trouble = true;
    constexpr int kFewest = 2;  // with fewer, the job may have stopped in its last step
    if (story.lines_after < kFewest) return std::nullopt;
    if (shown == nullptr) shown = story.last;
  }
  // A person who claims a hang means the time after the last step.
  if (!had_trouble || shown == nullptr || (finish == nullptr && is_claimed(rows)))
    return std::nullopt;
  Explanation out;
  out.kind = Kind::NotAHang;
  out.features = {Feature::WentOn};
  out.count = shown->step;
  out.total = shown->steps;
  out.evidence.push_back(evidence_of(shown->source));
  return out;
}

}  // namespace ringside::hang
